/** One fault from its making to its end, and when an operator could read of both. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Incident } from '../../fixtures/ops/monitoring.js';
import { until } from '../../fixtures/until.js';
import type { NightFault } from './faults.js';
import { type Judged, type Sign, NIGHT_LIMITS, type Times } from './judge.js';
import { judged, type Moments, promisedBy } from './signs.js';
import type { Night } from './world.js';

/** Seconds of the recording before the fault. */
const BEFORE = 3;
const LOOK_MS = 3000;
const CALM_MS = 60_000;
/** Scrapes and log lines come a moment after what they tell. */
const SLACK_MS = 3000;

const has = (signs: readonly Sign[], times: Times): boolean =>
  signs.every((sign) => times[sign] !== undefined);

/** Looks until all signs are there or the time is up. */
async function look(
  most: number,
  isDone: (judged: Judged) => boolean,
  see: () => Promise<Judged>,
): Promise<Judged> {
  const end = performance.now() + most * 1000 + SLACK_MS;
  for (;;) {
    await pause(LOOK_MS);
    const seen = await see();
    if (isDone(seen) || performance.now() > end) return seen;
  }
}

/** Makes the fault and mends it. The result says what was seen of it. */
export async function suffer(
  { gateway, ...night }: Night,
  fault: NightFault,
  incident: Incident,
): Promise<Judged> {
  const { recorder } = gateway;
  const whole = { gateway, ...night };
  const promised = promisedBy(incident);
  await pause(BEFORE * 1000);
  const made = recorder.now + 1;
  const moments: Moments = { from: made - BEFORE, made };
  await pause(recorder.timeOf(made) - Date.now());
  await fault.make(whole);
  const told = await look(
    NIGHT_LIMITS.told,
    (seen) => has(promised, seen.told),
    () => judged(incident, recorder, moments),
  );
  const mended = fault.mend ? recorder.now : made;
  await fault.mend?.(whole);
  const over = await look(
    NIGHT_LIMITS.over,
    (seen) => has(seen.ending, seen.over),
    () => judged(incident, recorder, { ...moments, mended }),
  );
  await fault.clear?.(whole);
  return { ...over, told: told.told, early: told.early };
}

/** Resolves when nothing of the incident is to be seen. */
export async function calm({ gateway: { recorder } }: Night, incident: Incident): Promise<void> {
  const isCalm = async (): Promise<boolean> => {
    const from = recorder.now - 2;
    if (from < 0) return false;
    const { early } = await judged(incident, recorder, { from, made: recorder.now });
    return early.length === 0;
  };
  await until('it is calm', isCalm, CALM_MS);
}
