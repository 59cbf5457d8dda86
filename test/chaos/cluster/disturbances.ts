/** What is done to a cluster under load, one row after the other (docs/operate/kubernetes.md has what came of it). */
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../fixtures/until.js';
import { type Kube, numberOf, type Pod } from './kube.js';

export interface Disturbance {
  readonly name: string;
  /** Whether an operator plans it: then no call is lost, and no client on a kept-alive connection sees an error. */
  readonly planned: boolean;
  /** Whether it needs the scripts of the machine that the cluster runs on. */
  readonly ofMachine?: true;
  /** Makes it, and puts things back; the gateways need not be ready yet. */
  make(kube: Kube): Promise<void>;
}

const CALM_MS = 20_000;
const CABLE_MS = 20_000;
const POSTGRES_MS = 30_000;
const RESTARTED_MS = 60_000;
/** Kubernetes notices a lost node after 45 s at most, and replaces its pods after `lostNodeSeconds`. */
const REPLACED_MS = 200_000;

/** An upgrade that fails; `helm upgrade --wait` has to say so. */
async function fail(kube: Kube, ...args: readonly string[]): Promise<void> {
  const failed = await kube.upgrade('--wait', '--timeout=60s', ...args).then(
    () => false,
    () => true,
  );
  if (!failed) throw new Error('helm calls a broken upgrade a success');
}

async function drain(kube: Kube): Promise<void> {
  const { node } = await kube.victim();
  try {
    await kube.kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=300s');
  } finally {
    await kube.kubectl('uncordon', node);
  }
}

async function scale(kube: Kube): Promise<void> {
  for (const replicas of [3, 2]) {
    await kube.kubectl('scale', kube.deployment, `--replicas=${replicas}`);
    await kube.well();
    await pause(CALM_MS);
  }
}

const find = async (kube: Kube, { name }: Pod): Promise<Pod | undefined> =>
  (await kube.pods()).find((pod) => pod.name === name);

async function kill(kube: Kube): Promise<void> {
  const pods = await kube.pods();
  for (const pod of pods.filter(({ isLeaving }) => !isLeaving)) {
    await kube.killContainer(pod);
    const isBack = async (): Promise<boolean> => {
      const now = await find(kube, pod);
      return now !== undefined && now.restarts > pod.restarts && now.isReady;
    };
    await until('the container runs again', isBack, RESTARTED_MS);
    await pause(CALM_MS);
  }
}

async function cutPower(kube: Kube): Promise<void> {
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

async function unplug(kube: Kube): Promise<void> {
  const number = numberOf((await kube.victim()).node);
  await kube.script('node', 'unplug', number);
  await pause(CABLE_MS);
  await kube.script('node', 'plug', number);
}

async function stopPostgres(kube: Kube): Promise<void> {
  const before = await kube.pods();
  await kube.script('postgres', 'stop');
  await pause(POSTGRES_MS);
  await kube.script('postgres', 'start');
  const restarts = (pods: readonly Pod[]) => pods.reduce((sum, pod) => sum + pod.restarts, 0);
  if (restarts(await kube.pods()) > restarts(before)) throw new Error('a pod was restarted');
}

export const DISTURBANCES: readonly Disturbance[] = [
  { name: 'nothing', planned: true, make: () => pause(POSTGRES_MS) },
  {
    name: 'rollout restart',
    planned: true,
    make: async (kube) => void (await kube.kubectl('rollout', 'restart', kube.deployment)),
  },
  {
    name: 'upgrade with a changed setting',
    planned: true,
    make: (kube) => kube.upgrade(`--set-string=gateway.settings.SHED_DELAY_MS=${250 + (Date.now() % 50)}`),
  },
  {
    name: 'upgrade to a broken one and back',
    planned: true,
    async make(kube) {
      await fail(kube, '--set=gateway.settings.TTS_ENGINES=no-such-engine');
      await kube.rollback();
    },
  },
  { name: 'drain of a node', planned: true, make: drain },
  { name: 'scale up and down', planned: true, make: scale },
  { name: 'kill -9 of each container', planned: false, ofMachine: true, make: kill },
  { name: 'power of a node cut', planned: false, ofMachine: true, make: cutPower },
  { name: 'cable of a node pulled for 20 s', planned: false, ofMachine: true, make: unplug },
  { name: 'Postgres stopped for 30 s', planned: false, ofMachine: true, make: stopPostgres },
];
