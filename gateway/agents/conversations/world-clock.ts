/** What an agent is told of the time: in its instructions when the call began, later by notes in the conversation. */
import { zoneFormats } from '../../../contracts/time/zone-formats.js';

const offset = zoneFormats('en-GB', { timeZoneName: 'longOffset' });
const whole = zoneFormats('en-GB', { dateStyle: 'full', timeStyle: 'short' });
const date = zoneFormats('en-GB', { dateStyle: 'short' });
const time = zoneFormats('en-GB', { timeStyle: 'short' });

const zoneOf = (timezone: string): string => (timezone === '' ? 'UTC' : timezone);

/** The distance of a zone's time from UTC, as in `UTC+05:30`. */
function offsetAt(now: Date, timeZone: string): string {
  const parts = offset(timeZone).formatToParts(now);
  return (parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT').replace('GMT', 'UTC');
}

/** Date and time as people say them, with the zone and its distance from UTC. */
export function timeAt(now: Date, timezone: string): string {
  const timeZone = zoneOf(timezone);
  const zone = timeZone === 'UTC' ? timeZone : `${timeZone}, ${offsetAt(now, timeZone)}`;
  return `${whole(timeZone).format(now)} (${zone})`;
}

export class WorldClock {
  #told: Date;

  /** `begun`: the time in the instructions. */
  constructor(readonly begun: Date) {
    this.#told = begun;
  }

  /** A note of the time if its minute, or the date, is another one than the agent was told last. */
  note(now: Date, timezone: string): string | undefined {
    const zone = zoneOf(timezone);
    const changes = ({ format }: Intl.DateTimeFormat): boolean => format(now) !== format(this.#told);
    const isOtherDay = changes(date(zone));
    if (!isOtherDay && !changes(time(zone))) return undefined;
    this.#told = now;
    return `It is now ${isOtherDay ? timeAt(now, timezone) : time(zone).format(now)}.`;
  }
}
