/** What an agent is told of the time: in its instructions when the call began, later by notes in the conversation. */

const zoneOf = (timezone: string): string => (timezone === '' ? 'UTC' : timezone);

/** The distance of a zone's time from UTC, as in `UTC+05:30`. */
function offsetAt(now: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' }).formatToParts(now);
  return (parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT').replace('GMT', 'UTC');
}

/** Date and time as people say them, with the zone and its distance from UTC. */
export function timeAt(now: Date, timezone: string): string {
  const timeZone = zoneOf(timezone);
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone });
  const offset = offsetAt(now, timeZone);
  return `${format.format(now)} (${timeZone === 'UTC' ? timeZone : `${timeZone}, ${offset}`})`;
}

const part = (options: Intl.DateTimeFormatOptions, now: Date, timezone: string): string =>
  new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zoneOf(timezone) }).format(now);

export class WorldClock {
  #told: Date;

  /** `begun`: the time in the instructions. */
  constructor(readonly begun: Date) {
    this.#told = begun;
  }

  /** A note of the time if its minute, or the date, is another one than the agent was told last. */
  note(now: Date, timezone: string): string | undefined {
    const changes = (options: Intl.DateTimeFormatOptions): boolean =>
      part(options, now, timezone) !== part(options, this.#told, timezone);
    const isOtherDay = changes({ dateStyle: 'short' });
    if (!isOtherDay && !changes({ timeStyle: 'short' })) return undefined;
    this.#told = now;
    return `It is now ${isOtherDay ? timeAt(now, timezone) : part({ timeStyle: 'short' }, now, timezone)}.`;
  }
}
