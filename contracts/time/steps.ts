/** Hours, days and weeks in UTC: weeks begin on Monday. */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const STEP_MS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const;
export type Step = keyof typeof STEP_MS;

/** 1 January 1970 was a Thursday. */
const FIRST_MS: Readonly<Record<Step, number>> = { hour: 0, day: 0, week: 4 * DAY_MS };

/** The beginning of the step in which that moment lies. */
export function stepOf(step: Step, at: Date): Date {
  const since = at.getTime() - FIRST_MS[step];
  return new Date(FIRST_MS[step] + Math.floor(since / STEP_MS[step]) * STEP_MS[step]);
}

/** The beginnings of the steps from `from`, which is one, to `to`, which is excluded. */
export const stepsBetween = (step: Step, from: Date, to: Date): readonly Date[] =>
  Array.from(
    { length: Math.max(0, Math.ceil((to.getTime() - from.getTime()) / STEP_MS[step])) },
    (_, index) => new Date(from.getTime() + index * STEP_MS[step]),
  );
