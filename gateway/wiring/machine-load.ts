/**
 * How loaded this machine is, as it is told to the other nodes: all of its processors' time, or that of the control group where
 * the group has less (version 2 of control groups; in others a limit is not seen, and the whole machine counts).
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { CallCost, firstCost } from '../../contracts/admission/call-cost.js';
import type { Clock } from '../../contracts/clock.js';
import type { KnownNodes, NodeLoad } from '../../contracts/ports/calls/nodes.js';

/** Processor time since some beginning, in milliseconds. */
interface ProcessorTime {
  readonly used: number;
  /** What there was to be used. */
  readonly all: number;
}

/** Two measurements closer to each other are one. */
const LEAST_MS = 500;

/** Of the whole machine. */
function ofMachine(): ProcessorTime {
  const times = cpus().map(({ times: { user, nice, sys, irq, idle } }) => [user + nice + sys + irq, idle]);
  const [used, idle] = [0, 1].map((at) => times.reduce((sum, each) => sum + each[at]!, 0)) as [
    number,
    number,
  ];
  return { used, all: used + idle };
}

const GROUP = '/sys/fs/cgroup';

/** Cores that a control group may use, as `cpu.max` says; undefined: all. */
export function coresIn(max: string): number | undefined {
  const [quota, period] = max.split(' ').map(Number);
  return quota !== undefined && quota > 0 && period ? quota / period : undefined;
}

/** Processor time of a control group, as `cpu.stat` says. */
export const usedIn = (stat: string): number => Number(/^usage_usec (\d+)$/m.exec(stat)?.[1] ?? 0) / 1000;

/** The limit of our control group. */
function groupCores(): number | undefined {
  try {
    return coresIn(readFileSync(`${GROUP}/cpu.max`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Undefined where our control group has no limit. */
function ofGroup(now: number): ProcessorTime | undefined {
  const cores = groupCores();
  if (cores === undefined) return undefined;
  return { used: usedIn(readFileSync(`${GROUP}/cpu.stat`, 'latin1')), all: now * cores };
}

/** The share that was used between two measurements. */
export function shareBetween(before: ProcessorTime, now: ProcessorTime): number {
  const all = now.all - before.all;
  return all > 0 ? Math.min(1, Math.max(0, (now.used - before.used) / all)) : 0;
}

function measured(now: number): readonly ProcessorTime[] {
  const group = ofGroup(now);
  return group ? [ofMachine(), group] : [ofMachine()];
}

export interface MachineLoadParts {
  readonly node: Pick<KnownNodes, 'known'>;
  readonly processId: string;
  readonly installation: string;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** The load of the machine for so many calls of this process; it is measured whenever it is read, as with each heartbeat. */
export function openMachineLoad({ node, processId, installation, clock }: MachineLoadParts) {
  const cost = new CallCost(firstCost(Math.min(cpus().length, groupCores() ?? Infinity)));
  let at = clock.monotonic();
  let before = measured(at);
  /** Calls of the machine's other processes, as of some seconds ago. */
  const beside = (): number =>
    node.known
      .filter((each) => each.installation === installation && each.id !== processId)
      .reduce((sum, { calls }) => sum + calls, 0);
  return (calls: number): NodeLoad => {
    const now = clock.monotonic();
    const all = calls + beside();
    if (now - at >= LEAST_MS) {
      const next = measured(now);
      const shares = next.map((each, index) => shareBetween(before[index] ?? each, each));
      cost.measured(Math.max(...shares), all, now - at);
      [at, before] = [now, next];
    }
    return cost.load(all);
  };
}
