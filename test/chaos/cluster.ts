/** Nodes on one Postgres behind a balancer. `letGoOfAll` stops everything. */
import { rmSync } from 'node:fs';
import { letGo } from '../fixtures/calls/caller.js';
import { freePort } from '../fixtures/free-port.js';
import { TEST_SECRET } from '../fixtures/gateway.js';
import { startModel } from '../fixtures/chat/model.js';
import { startPostgres, type TestPostgres } from '../fixtures/database/postgres.js';
import { startRelay } from '../fixtures/database/relay.js';
import { until } from '../fixtures/until.js';
import { type Balancer, startBalancer } from './balancer.js';
import { ChaosNode } from './nodes.js';
import { temporaryFolder } from '../fixtures/folders.js';

const stops: (() => unknown)[] = [];
/** Stands in for a tap test: collects what must be stopped at the end. */
export const run = {
  teardown: (stop: () => unknown) => void stops.push(stop),
} as Parameters<typeof startPostgres>[0];

export async function letGoOfAll(): Promise<void> {
  letGo();
  for (const stop of stops.splice(0).reverse()) await stop();
}

export interface Cluster {
  readonly postgres: TestPostgres;
  readonly nodes: readonly ChaosNode[];
  readonly balancer: Balancer;
}

/** `count` nodes with the given places for calls each; `settings` are added to those that a cluster needs. */
export async function startCluster(
  count: number,
  places: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const postgres = await startPostgres(run);
  const model = await startModel();
  run.teardown(() => model.stop());
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
  const balancer = await startBalancer(ports);
  run.teardown(() => balancer.stop());
  const env = {
    ...{ PUBLIC_URL: balancer.base, SECRETS_KEY: TEST_SECRET, LLM_BASE_URL: model.url, LOG_LEVEL: 'warn' },
    ...{ OUTBOUND_ALLOW: '127.0.0.1', CONCURRENCY: '1000', CALL_PLACES: places },
    ...{ DRAIN_SECONDS: '60', DRAIN_ANNOUNCE_SECONDS: '1' },
    ...settings,
  };
  const nodes: ChaosNode[] = [];
  for (const [index, port] of ports.entries()) {
    const dataDir = temporaryFolder();
    run.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    const relay = await startRelay(run, postgres.url);
    nodes.push(new ChaosNode(`node-${index + 1}`, port, dataDir, relay, env));
  }
  for (const node of nodes) {
    await node.start();
    run.teardown(() => node.stop());
  }
  await until('the balancer has them', () => ports.every((port) => balancer.isReady(port)));
  return { postgres, nodes, balancer };
}
