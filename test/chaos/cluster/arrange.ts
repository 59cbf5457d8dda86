/**
 * What the release can stand on beside Postgres, as pods of the cluster with passwords for the run only (parts/): LiveKit servers, with
 * speech in pods of its own, and a bucket for recordings.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../contracts/places.js';
import type { Kube } from './kube.js';

interface Part {
  readonly deployments: readonly string[];
  /** What the release's Secret gets. */
  readonly keys: Readonly<Record<string, string>>;
  /** Values of the release that are known only then. */
  values(kube: Kube): Promise<readonly string[]>;
  /** What must be ready after the upgrade, beside the gateways. */
  readonly pods: readonly string[];
}

const PARTS = {
  livekit: {
    deployments: ['redis', 'livekit'],
    keys: {
      ...{ LIVEKIT_API_KEY: 'chaos', LIVEKIT_API_SECRET: 'only-for-the-run-on-a-test-cluster' },
      REMOTE_NATIVE_KEY: 'key-of-the-speech-pods-0123456789',
    },
    values: async (kube) => [
      `--set-string=gateway.settings.LIVEKIT_URL=ws://${await kube.addressOf('livekit')}:7880`,
    ],
    pods: ['statefulset/speech-speech'],
  },
  bucket: {
    deployments: ['bucket'],
    keys: { AWS_ACCESS_KEY_ID: 'chaos', AWS_SECRET_ACCESS_KEY: 'only-for-the-run' },
    values: () => Promise.resolve([]),
    pods: [],
  },
} satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof PARTS;

const file = (name: string): string =>
  fileURLToPath(new URL(`test/chaos/cluster/parts/${name}.yaml`, CHECKOUT));

/** Installs the part on the cluster, and upgrades the release to it. `entry`: the node that is never cut off. */
export async function arrange(kube: Kube, name: PartName, secret: string, entry: string): Promise<void> {
  const { deployments, keys, values, pods }: Part = PARTS[name];
  await kube.apply(readFileSync(file(name), 'utf8').replaceAll('ENTRY', entry));
  await kube.kubectl('patch', 'secret', secret, '--patch', JSON.stringify({ stringData: keys }));
  for (const deployment of deployments)
    await kube.kubectl('rollout', 'status', `deployment/${deployment}`, '--timeout=180s');
  await kube.upgrade('--values', file(`${name}-values`), ...(await values(kube)));
  for (const each of pods) await kube.kubectl('rollout', 'status', each, '--timeout=300s');
}
