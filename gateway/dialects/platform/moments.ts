/** Dates and date-times that clients write: in a query or a body. */
import { badQuery } from './paging.js';

const MOMENT = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+ -]\d{2}:\d{2})?)?$/;
/** Range of dates that Postgres reads with a four-digit year, in UTC. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');
/** An unencoded `+` arrives as a blank in the offset of a date-time. */
const LOST_PLUS = / (?=\d{2}:\d{2}$)/;

/** Whether the day exists: JavaScript reads the 30th of February as a day in March. */
const isDay = (day: string): boolean =>
  Number.isFinite(Date.parse(day)) && new Date(day).toISOString().startsWith(day);

export const MOMENT_RULE = 'must be a date or an RFC 3339 date-time';

/** Undefined if the text is none. */
export function readMoment(text: string): Date | undefined {
  const plain = text.length > 11 ? text.slice(0, 11) + text.slice(11).replace(LOST_PLUS, '+') : text;
  const zoned =
    /[Tt ]/.test(plain.slice(10)) && !/(?:[Zz]|[+-]\d{2}:\d{2})$/.test(plain) ? `${plain}Z` : plain;
  const moment = new Date(MOMENT.test(text) && isDay(text.slice(0, 10)) ? zoned : NaN);
  return moment.getTime() >= EARLIEST && moment.getTime() <= LATEST ? moment : undefined;
}

/** An empty parameter is an error: ignoring it would widen the filter. Errors: `invalid_request`. */
export function momentOf(query: URLSearchParams, name: string): Date | undefined {
  const text = query.getAll(name).at(-1);
  if (text === undefined) return undefined;
  const moment = readMoment(text);
  if (!moment) throw badQuery(name, `${name} ${MOMENT_RULE}`);
  return moment;
}
