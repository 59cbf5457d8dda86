/**
 * The release with all that it can stand on: calls in rooms of LiveKit servers, recordings in a bucket, speech in pods of its own
 * (parts/). Their servers are pods of the cluster, with passwords for the run only.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../contracts/places.js';
import type { Kube } from './kube.js';

const KEYS = {
  ...{ LIVEKIT_API_KEY: 'chaos', LIVEKIT_API_SECRET: 'only-for-the-run-on-a-test-cluster' },
  ...{ AWS_ACCESS_KEY_ID: 'chaos', AWS_SECRET_ACCESS_KEY: 'only-for-the-run' },
  REMOTE_NATIVE_KEY: 'key-of-the-speech-pods-0123456789',
};

const part = (name: string): string =>
  fileURLToPath(new URL(`test/chaos/cluster/parts/${name}.yaml`, CHECKOUT));

/** Installs the servers on the cluster, and upgrades the release to them. `entry`: the node that is never cut off. */
export async function arrange(kube: Kube, secret: string, entry: string): Promise<void> {
  for (const name of ['livekit', 'bucket'])
    await kube.apply(readFileSync(part(name), 'utf8').replaceAll('ENTRY', entry));
  await kube.kubectl('patch', 'secret', secret, '--patch', JSON.stringify({ stringData: KEYS }));
  for (const name of ['redis', 'livekit', 'bucket'])
    await kube.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=180s');
  const address = `ws://${await kube.addressOf('livekit')}:7880`;
  await kube.upgrade('--values', part('values'), `--set-string=gateway.settings.LIVEKIT_URL=${address}`);
  await kube.kubectl('rollout', 'status', `${kube.statefulSet}`, '--timeout=300s');
}
