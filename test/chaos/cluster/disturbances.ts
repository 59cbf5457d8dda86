/** What is done to a cluster under load, one row after the other (docs/operate/kubernetes.md has what came of it). */
import { setTimeout as pause } from 'node:timers/promises';
import type { PartName } from './arrange.js';
import type { Kube } from './kube.js';
import * as losses from './losses.js';
import * as planned from './planned.js';

/** What a row cannot do without: scripts of the machine that the cluster runs on, or a part that the run installs. */
export type Need = 'scripts' | PartName;

export interface Disturbance {
  readonly name: string;
  /** Whether an operator plans it: then no call is lost, and no client on a kept-alive connection sees an error. */
  readonly planned: boolean;
  readonly needs: readonly Need[];
  /** Makes it, and puts things back; the gateways need not be ready yet. */
  make(kube: Kube): Promise<void>;
}

const AWAY_MS = 30_000;

type Row = readonly [name: string, make: Disturbance['make'], ...needs: Need[]];

const PLANNED: readonly Row[] = [
  ['nothing', () => pause(AWAY_MS)],
  ['rollout restart', planned.restart],
  ['upgrade with a changed setting', planned.changeSetting],
  ['upgrade to a broken one and back', planned.breakUpgrade],
  ['drain of a node', planned.drain],
  ['scale up and down', planned.scale],
  ['autoscaling by calls', planned.autoscale],
];

const LOSSES: readonly Row[] = [
  ['kill -9 of each container', losses.killGateways, 'scripts'],
  ['power of a node cut', losses.cutPower, 'scripts'],
  ['cable of a node pulled for 20 s', losses.unplug(20_000), 'scripts'],
  ['cable of a node pulled for 3 min', losses.unplug(180_000), 'scripts'],
  ['Postgres stopped for 30 s', losses.stopPostgres(AWAY_MS), 'scripts'],
  ['Postgres restarted', losses.stopPostgres(0), 'scripts'],
  ['Postgres frozen for 30 s', losses.freezePostgres(AWAY_MS), 'scripts'],
  ['a gateway with a clock 5 min ahead', losses.wrongClock('+5m')],
  ['a gateway with a clock 5 min behind', losses.wrongClock('-5m')],
  ['a gateway with a full disk', losses.fullDisk],
  ['a gateway evicted for its disk', losses.overfill],
  ['LiveKit servers killed', losses.killApp('livekit'), 'livekit', 'scripts'],
  ['Redis killed', losses.killApp('redis'), 'livekit', 'scripts'],
  ['speech pods killed', losses.killSpeech, 'livekit', 'scripts'],
  ['bucket away for 30 s', losses.withoutBucket(AWAY_MS), 'bucket'],
];

const rowOf =
  (isPlanned: boolean) =>
  ([name, make, ...needs]: Row): Disturbance => ({ name, planned: isPlanned, needs, make });

export const DISTURBANCES: readonly Disturbance[] = [
  ...PLANNED.map(rowOf(true)),
  ...LOSSES.map(rowOf(false)),
];
