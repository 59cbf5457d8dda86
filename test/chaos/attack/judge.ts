/** Runs an attack beside the victim, and judges what the victim, the memory and the processor say of it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Attack } from './attack.js';
import type { Outcome } from './frozen.js';
import { flood } from './senders.js';
import { growthOf, processorOf, type Resident, residentOf, type Target, totalOf } from './target.js';
import { count, shown, type Told } from './told.js';
import { p95, speak } from './speak.js';
import type { Victim } from './victim.js';

const MiB = 1024 * 1024;
const mib = (bytes: number): number => Math.round(bytes / MiB);
const SAMPLE_MS = 200;
const LAWFUL_MS = 10_000;
/** A short attack is repeated for as long, so that the victim has enough requests for its p95 not to be its slowest one. */
const ATTACK_MS = 10_000;
/** Resting after an attack: then all is as before. */
const REST_MS = 10_000;
const GAP_MS = 200;
const SLOWER = 3;
/** Processor time that is no fault where other tests run beside: the faults that were met took four and more. */
const UNTIMED_SECONDS = 3;
/** Differences below this are no slowness, in ms. */
const NOISE_MS = 50;
/** What code, caches and heaps take when they are first used. */
const WARMTH = 64 * MiB;

export interface Rules {
  /** Share of the whole attack. */
  readonly size: number;
  /** Whether seconds, gaps and p95 are judged as well: on a machine that does nothing else. */
  readonly timed: boolean;
  readonly budgetBytes: number;
  readonly victim: Victim;
}

/** `peak`: its memory when it was largest. */
async function watched<T>(target: Target, work: () => Promise<T>): Promise<{ result: T; peak: Resident }> {
  let peak = residentOf(target);
  const look = (): void => {
    const now = residentOf(target);
    if (totalOf(now) > totalOf(peak)) peak = now;
  };
  const timer = setInterval(look, SAMPLE_MS);
  try {
    const result = await work();
    look();
    return { result, peak };
  } finally {
    clearInterval(timer);
  }
}

const lawful = new Map<number, number>();

/** The victim's p95, in ms, while the attacker makes as many lawful requests at once. */
async function lawfulP95(target: Target, victim: Victim, atOnce: number): Promise<number> {
  const known = lawful.get(atOnce);
  if (known !== undefined) return known;
  const end = performance.now() + LAWFUL_MS;
  const { asked } = await victim.beside(() =>
    flood(atOnce, atOnce, async () => {
      while (performance.now() < end) await speak(target.base, target.keys.full);
    }),
  );
  lawful.set(atOnce, p95(asked));
  return p95(asked);
}

/** Resolves with how many times it was made. */
async function repeatedly(
  attack: Attack,
  target: Target,
  told: Told,
  { size, timed }: Rules,
): Promise<number> {
  const end = performance.now() + (timed ? ATTACK_MS : 0);
  let times = 0;
  do {
    await attack.run(target, told, size);
    times += 1;
  } while (performance.now() < end);
  return times;
}

export async function judge(target: Target, attack: Attack, rules: Rules): Promise<Outcome> {
  const { size, timed, budgetBytes, victim } = rules;
  const allowedMs = timed
    ? Math.max(NOISE_MS, SLOWER * (await lawfulP95(target, victim, attack.atOnce)))
    : Infinity;
  const rest = residentOf(target);
  const processor = processorOf(target);
  const told: Told = new Map();
  const { result, peak } = await watched(target, () =>
    victim.beside(() => repeatedly(attack, target, told, rules)),
  );
  const { asked, gapMs } = result;
  const used = processorOf(target) - processor;
  if (timed) await pause(REST_MS);
  const { asked: later } = await victim.beside(() => pause(timed ? 2000 : 500));
  const end = residentOf(target);
  const [more, left] = [totalOf(peak) - totalOf(rest), totalOf(end) - totalOf(rest)];
  const p95Ms = p95(asked);
  const most =
    Math.max(timed ? 1 : UNTIMED_SECONDS, attack.seconds * size * result.result) + asked.length * 0.05;
  const failedOf = (all: typeof asked) => all.filter((one) => one.told !== 200);
  const toldOf = (all: typeof asked): string =>
    shown(failedOf(all).reduce((sum, one) => count(sum, one.told), new Map()));
  const checks: readonly [boolean, string][] = [
    [failedOf(asked).length === 0, `the victim was told ${toldOf(asked)}`],
    [p95Ms <= allowedMs, `p95 ${Math.round(p95Ms)} ms, allowed ${Math.round(allowedMs)}`],
    [!timed || gapMs <= GAP_MS, `the call heard nothing for ${Math.round(gapMs)} ms`],
    [!result.isOver, 'the call was lost'],
    [more <= budgetBytes + WARMTH, `${mib(more)} MiB more than at rest: ${growthOf(rest, peak)}`],
    [used <= most, `${used.toFixed(1)} s of processor time, allowed ${most.toFixed(1)}`],
    [failedOf(later).length === 0, `afterwards the victim was told ${toldOf(later)}`],
    [
      !timed || left <= WARMTH,
      `${mib(left)} MiB were left ${REST_MS / 1000} s later: ${growthOf(rest, end)}`,
    ],
    ...[...told.keys()].map((what): [boolean, string] => [
      attack.allowed.includes(what),
      `the attacker was told "${what}"`,
    ]),
  ];
  const figures = [
    `told ${shown(told) || 'nothing'}`,
    `victim ${asked.length - failedOf(asked).length} of ${asked.length}, p95 ${Math.round(p95Ms)} ms`,
    ...(timed ? [`gap ${Math.round(gapMs)} ms`] : []),
    `memory ${mib(more)} MiB more`,
    `processor ${used.toFixed(1)} s`,
  ];
  const faults = checks.filter(([holds]) => !holds).map(([, fault]) => fault);
  return { name: attack.name, figures: figures.join('; '), faults };
}
