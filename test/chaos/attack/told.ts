/** What attackers were told: how often each status, close code or kind of failure. */
export type Told = Map<number | string, number>;

export const count = (told: Told, what: number | string, times = 1): Told =>
  told.set(what, (told.get(what) ?? 0) + times);

export const shown = (told: Told): string => [...told].map(([what, times]) => `${what}×${times}`).join(' ');
