/** What nobody plans: containers that die, nodes and networks that go, and services that gateways stand on. */
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../fixtures/until.js';
import { type Kube, numberOf, type Pod } from './kube.js';
import { clock, disk, type Oddity, withOddPod } from './odd-pod.js';
import { CALM_MS } from './planned.js';

const RESTARTED_MS = 60_000;
/** Kubernetes notices a lost node after 45 s at most, and replaces its pods after `lostNodeSeconds`. */
const REPLACED_MS = 200_000;
const ODD_MS = 60_000;
/** Kubernetes measures volumes once a minute. */
const EVICTED_MS = 180_000;

const isWell = ({ isReady, isLeaving }: Pod): boolean => isReady && !isLeaving;

/** Kills the container of each of these pods, one after the other, each when the one before runs again. */
async function killEach(kube: Kube, labels: string): Promise<void> {
  for (const pod of (await kube.select(labels)).filter(isWell)) {
    await kube.killContainer(pod);
    const isBack = async (): Promise<boolean> =>
      (await kube.select(labels)).some(
        ({ name, restarts, isReady }) => name === pod.name && restarts > pod.restarts && isReady,
      );
    await until('the container runs again', isBack, RESTARTED_MS);
    await pause(CALM_MS);
  }
}

export const killGateways = (kube: Kube): Promise<void> => killEach(kube, kube.labelsOf('gateway'));
export const killSpeech = (kube: Kube): Promise<void> => killEach(kube, kube.labelsOf('speech'));
export const killApp =
  (app: string) =>
  (kube: Kube): Promise<void> =>
    killEach(kube, `app=${app}`);

export async function cutPower(kube: Kube): Promise<void> {
  const { node, name } = await kube.victim();
  const number = numberOf(node);
  await kube.script('node', 'stop', number);
  try {
    const isReplaced = async (): Promise<boolean> =>
      (await kube.pods()).filter((pod) => pod.isReady && pod.name !== name && pod.node !== node).length > 1;
    await until('another node has its pod', isReplaced, REPLACED_MS);
  } finally {
    await kube.script('node', 'start', number);
  }
}

export const unplug =
  (ms: number) =>
  async (kube: Kube): Promise<void> => {
    const number = numberOf((await kube.victim()).node);
    await kube.script('node', 'unplug', number);
    await pause(ms);
    await kube.script('node', 'plug', number);
  };

/** The absence of what all pods share must restart none of them, nor leave the service without any. */
const keepsPods =
  (absence: (kube: Kube) => Promise<void>, present: (kube: Kube) => Promise<void>) =>
  async (kube: Kube): Promise<void> => {
    const restarts = async (): Promise<number> =>
      (await kube.pods()).reduce((sum, pod) => sum + pod.restarts, 0);
    const before = await restarts();
    await absence(kube);
    const served = (await kube.pods()).filter(isWell).length;
    await present(kube);
    if (served === 0) throw new Error('no pod was in service');
    if ((await restarts()) > before) throw new Error('a pod was restarted');
  };

const started = (kube: Kube): Promise<void> => kube.script('postgres', 'start');

export const stopPostgres = (ms: number) =>
  keepsPods(async (kube) => {
    await kube.script('postgres', 'stop');
    await pause(ms);
  }, started);

export const freezePostgres = (ms: number) =>
  keepsPods(
    async (kube) => {
      await kube.signalPostgres('STOP');
      await pause(ms);
    },
    (kube) => kube.signalPostgres('CONT'),
  );

/** Takes the pods of a deployment away, whose objects outlive them. */
export const withoutBucket = (ms: number) =>
  keepsPods(
    async (kube) => {
      await kube.kubectl('scale', 'deployment/bucket', '--replicas=0');
      await kube.kubectl('wait', '--for=delete', 'pod', '--selector=app=bucket', '--timeout=60s');
      await pause(ms);
    },
    async (kube) => {
      await kube.kubectl('scale', 'deployment/bucket', '--replicas=1');
      await kube.kubectl('rollout', 'status', 'deployment/bucket', '--timeout=60s');
    },
  );

const beside = (oddity: Oddity) => (kube: Kube) => withOddPod(kube, oddity, () => pause(ODD_MS));

export const wrongClock = (by: string) => beside(clock(by));

export const fullDisk = (kube: Kube): Promise<void> =>
  withOddPod(kube, disk('256Mi'), async (pod) => {
    await pause(CALM_MS);
    await kube.kubectl('exec', pod, '--', 'sh', '-c', 'cat /dev/zero > /data/chaos 2>/dev/null; true');
    await pause(ODD_MS);
    await kube.kubectl('exec', pod, '--', 'rm', '/data/chaos');
    await kube.kubectl('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=60s');
  });

/** Writes more into `/data` than the pod may have there: Kubernetes ends it. */
export async function overfill(kube: Kube): Promise<void> {
  const { name } = await kube.victim();
  await kube.kubectl('exec', name, '--', 'fallocate', '--length=2GiB', '/data/chaos');
  const hasGone = async (): Promise<boolean> =>
    !(await kube.pods()).filter(isWell).some((pod) => pod.name === name);
  await until('the pod has been evicted', hasGone, EVICTED_MS);
}
