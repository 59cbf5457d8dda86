/** What passes between a caller and an agent in one turn, judged by the audio that came back. Times are ms. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller, Said } from './caller.js';
import { waitFor } from './timing.js';

const ANSWER_MS = 10_000;
/** The agent has ended when nothing was heard of it for so long. */
const QUIET_MS = 1000;
const TURN_MS = 60_000;
const EFFECT_MS = 8000;
/** A pause of the agent between two words is shorter. */
const SILENT_MS = 700;
const AFTER_NOISE_MS = 2500;
/** Audio still playing this long after the caller begins does not count as talking over the caller. */
const GRACE_MS = 500;

/** Waits until nothing has been heard of the agent for so long, but no longer than `atMost`. */
export async function untilQuiet({ heard }: Caller, quiet = QUIET_MS, atMost = TURN_MS): Promise<void> {
  await waitFor(() => performance.now() - heard.last > quiet, atMost);
}

/** When the agent was heard first once that had been said; undefined within ten seconds. */
export const answerTo = ({ heard }: Caller, { to }: Said): Promise<number | undefined> =>
  waitFor(() => heard.firstFrom(to), ANSWER_MS);

export const isTalkedOver = ({ heard }: Caller, { from, to }: Said): boolean =>
  heard.audibleBetween(from + GRACE_MS, to) > 0;

/**
 * Whether the agent goes on with the same answer behind what `say` says. Until it knows what it has heard it may be silent,
 * which takes longer on a loaded machine: that is no end.
 */
export async function speaksThrough(caller: Caller, say: () => Promise<Said>): Promise<boolean> {
  const over = caller.answersOver;
  await say();
  await pause(AFTER_NOISE_MS);
  const since = performance.now();
  const goesOn = (): boolean => caller.heard.last > since;
  await waitFor(() => caller.answersOver > over || goesOn(), EFFECT_MS);
  return caller.answersOver === over && goesOn();
}

/** From the first sound of the interruption to the agent's last; from its last sound to its answer. NaN where there is none. */
export interface Interruption {
  readonly bargeIn: number;
  /** Undefined where the agent did not fall silent. */
  readonly answer?: number;
}

export async function interrupts({ heard }: Caller, { from, to }: Said): Promise<Interruption> {
  const end = await waitFor(() => heard.silenceBehind(from, SILENT_MS, performance.now()), EFFECT_MS);
  if (end === undefined) return { bargeIn: Number.NaN };
  const answer = await waitFor(() => heard.firstFrom(Math.max(to, end + SILENT_MS)), ANSWER_MS);
  return { bargeIn: end - from, answer: (answer ?? Number.NaN) - to };
}
