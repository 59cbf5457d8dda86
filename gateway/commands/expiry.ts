/** Parses the expiry of a key as an operator writes it: a duration from now, or a day or time. */
const MINUTE_MS = 60_000;
const UNIT_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
  w: 7 * 24 * 60 * MINUTE_MS,
};
const MOST_MS = 100 * 366 * 24 * 60 * MINUTE_MS;

const FROM_NOW = /^(\d{1,9})([mhdw])$/;
/** A day begins in UTC. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2})?Z)?$/;

/** Whether the calendar has the day: Date.parse takes 31 February for 3 March. */
function isDay(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** Milliseconds since the epoch; NaN if the text is no day or time. */
function momentOf(text: string): number {
  const [, day = ''] = MOMENT.exec(text) ?? [];
  return isDay(day) ? Date.parse(text) : NaN;
}

/** `30m`, `12h`, `30d`, `8w`, `2030-01-31`, `2030-01-31T12:00Z`; undefined if it is none of them, is past, or is over 100 years away. */
export function expiryOf(text: string, now: number): Date | undefined {
  const [, count = '', unit = ''] = FROM_NOW.exec(text) ?? [];
  const at = unit ? now + Number(count) * (UNIT_MS[unit] ?? 0) : momentOf(text);
  return at > now && at - now <= MOST_MS ? new Date(at) : undefined;
}
