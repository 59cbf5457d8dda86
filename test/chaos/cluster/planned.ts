/** What an operator does to a cluster on purpose. */
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../fixtures/until.js';
import type { Kube } from './kube.js';
import { startAdapter } from './metrics-adapter.js';

export const CALM_MS = 20_000;
/** The autoscaler looks every 15 s, and a pod takes its time to start. */
const SCALED_MS = 240_000;

/** An upgrade that fails; `helm upgrade --wait` has to say so. */
async function fail(kube: Kube, ...args: readonly string[]): Promise<void> {
  const failed = await kube.upgrade('--wait', '--timeout=60s', ...args).then(
    () => false,
    () => true,
  );
  if (!failed) throw new Error('helm calls a broken upgrade a success');
}

export async function breakUpgrade(kube: Kube): Promise<void> {
  await fail(kube, '--set=gateway.settings.TTS_ENGINES=no-such-engine');
  await kube.rollback();
}

export const restart = async (kube: Kube): Promise<void> =>
  void (await kube.kubectl('rollout', 'restart', kube.deployment));

export const changeSetting = (kube: Kube): Promise<void> =>
  kube.upgrade(`--set-string=gateway.settings.SHED_DELAY_MS=${250 + (Date.now() % 50)}`);

export async function drain(kube: Kube): Promise<void> {
  const { node } = await kube.victim();
  try {
    await kube.kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=300s');
  } finally {
    await kube.kubectl('uncordon', node);
  }
}

export async function scale(kube: Kube): Promise<void> {
  for (const replicas of [3, 2]) {
    await kube.kubectl('scale', kube.deployment, `--replicas=${replicas}`);
    await kube.well();
    await pause(CALM_MS);
  }
}

/** Kubernetes' autoscaler adds a pod by the chart's metric; then it is switched off, which takes the pod away. */
export async function autoscale(kube: Kube): Promise<void> {
  const before = (await kube.pods()).length;
  const adapter = await startAdapter(kube);
  try {
    await kube.upgrade(
      `--set=autoscaling.by=hpa,autoscaling.min=${before},autoscaling.max=${before + 1},autoscaling.callsPerPod=1`,
    );
    const isAdded = async (): Promise<boolean> =>
      (await kube.pods()).filter(({ isReady, isLeaving }) => isReady && !isLeaving).length > before;
    await until('the autoscaler has added a pod', isAdded, SCALED_MS);
    await pause(CALM_MS);
  } finally {
    await kube.upgrade(`--set=autoscaling.by=none,gateway.replicas=${before}`);
    await adapter.close();
  }
}
