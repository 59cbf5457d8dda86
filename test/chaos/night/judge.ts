/** When log, figures, alert and `/health` named a part that failed, and when they said that it is over: pure. */

/** Seconds in which they must, after a fault is made and after it is mended. */
export const NIGHT_LIMITS = { told: 60, over: 30 } as const;

export const SIGNS = ['log', 'metric', 'alert', 'health'] as const;
export type Sign = (typeof SIGNS)[number];

/** Seconds after which each sign came; absent: not yet. */
export type Times = Readonly<Partial<Record<Sign, number>>>;

/** A sign that is true or false in each second. `at`: in which it is true. `from`, `to`: the seconds that are looked at. */
interface Span {
  readonly at: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** Seconds from `from` until it was first true; undefined: it was not. */
export function beganAfter({ at, from, to }: Span): number | undefined {
  const first = at.find((second) => second >= from && second < to);
  return first === undefined ? undefined : first - from;
}

/** Seconds from `from` until it was true for the last time; undefined: it still was at the end. */
export function endedAfter({ at, from, to }: Span): number | undefined {
  const last = Math.max(from - 1, ...at.filter((second) => second >= from && second < to));
  return last === to - 1 ? undefined : last + 1 - from;
}

export interface Judged {
  /** The signs that the fault's row promises. */
  readonly promised: readonly Sign[];
  /** Of these, those that end with the fault, and not when a window has passed. */
  readonly ending: readonly Sign[];
  /** Those that were there before the fault was made. */
  readonly early: readonly Sign[];
  readonly told: Times;
  readonly over: Times;
}

const NAMES: Readonly<Record<Sign, string>> = {
  log: 'log',
  metric: 'metric',
  alert: 'alert',
  health: '/health',
};

const shown = (signs: readonly Sign[], times: Times): string =>
  signs
    .map((sign) => `${NAMES[sign]} ${times[sign] === undefined ? 'never' : `${times[sign].toFixed(0)} s`}`)
    .join(', ');

/** `told after log 1 s, metric 2 s …; over after …` */
export const figuresOf = ({ promised, ending, told, over }: Judged): string =>
  `told after ${shown(promised, told)}${ending.length > 0 ? `; over after ${shown(ending, over)}` : ''}`;

const late = (sign: Sign, times: Times, most: number, what: string): readonly string[] => {
  const after = times[sign];
  if (after === undefined) return [`${NAMES[sign]}: did not ${what} within ${most} s`];
  return after > most ? [`${NAMES[sign]}: took ${after.toFixed(0)} s to ${what}, allowed ${most} s`] : [];
};

/** A line for each promise that was not kept. */
export const broken = ({ promised, ending, early, told, over }: Judged): readonly string[] => [
  ...early.map((sign) => `${NAMES[sign]}: was there before the fault`),
  ...promised.flatMap((sign) => late(sign, told, NIGHT_LIMITS.told, 'name the part')),
  ...ending
    .filter((sign) => told[sign] !== undefined)
    .flatMap((sign) => late(sign, over, NIGHT_LIMITS.over, 'say that it is over')),
];
