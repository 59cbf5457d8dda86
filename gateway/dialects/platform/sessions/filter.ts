/** The filters of `GET /v1/agent/sessions` (docs/contract/platform.md 6.7). Errors in a query are 400. */
import { LIMITS } from '../../../../contracts/limits.js';
import {
  SESSION_STATUSES,
  type SessionFilter,
  type SessionStatus,
} from '../../../../contracts/ports/sessions/sessions.js';
import { badQuery, textOf } from '../paging.js';

const MOST_CHARACTERS = 200;

/** Also accepts `unknown`, a status of the contract that none of our sessions ever has. */
const isStatus = (word: string): boolean =>
  word === 'unknown' || (SESSION_STATUSES as readonly string[]).includes(word);

function statusesOf(query: URLSearchParams): readonly SessionStatus[] | undefined {
  const words = textOf(query, 'status', MOST_CHARACTERS)
    ?.split(',')
    .map((word) => word.trim());
  if (words && !words.every(isStatus))
    throw badQuery('status', `status must be a list out of ${SESSION_STATUSES.join(', ')}, unknown`);
  return words as readonly SessionStatus[] | undefined;
}

const MOMENT = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+ -]\d{2}:\d{2})?)?$/;
/** Range of dates that Postgres reads with a four-digit year, in UTC. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');
/** An unencoded `+` arrives as a blank: in the offset of a date-time, or before a telephone number. */
const LOST_PLUS = / (?=\d{2}:\d{2}$)/;
const LOST_FIRST_PLUS = /^ (?=\d)/;

/** Whether the day exists: JavaScript reads the 30th of February as a day in March. */
const isDay = (day: string): boolean =>
  Number.isFinite(Date.parse(day)) && new Date(day).toISOString().startsWith(day);

/** An empty parameter is an error: ignoring it would widen the filter. */
function momentOf(query: URLSearchParams, name: string): Date | undefined {
  const text = query.getAll(name).at(-1);
  if (text === undefined) return undefined;
  const plain = text.length > 11 ? text.slice(0, 11) + text.slice(11).replace(LOST_PLUS, '+') : text;
  const zoned =
    /[Tt ]/.test(plain.slice(10)) && !/(?:[Zz]|[+-]\d{2}:\d{2})$/.test(plain) ? `${plain}Z` : plain;
  const moment = new Date(MOMENT.test(text) && isDay(text.slice(0, 10)) ? zoned : NaN);
  if (moment.getTime() >= EARLIEST && moment.getTime() <= LATEST) return moment;
  throw badQuery(name, `${name} must be a date or an RFC 3339 date-time`);
}

/** Errors: `invalid_request`. */
export function filterOf(query: URLSearchParams): SessionFilter {
  const agentId = textOf(query, 'agent_id', LIMITS.session.agentId);
  const number = textOf(query, 'caller_number', LIMITS.session.phoneNumber);
  const callerNumber = number?.replace(LOST_FIRST_PLUS, '+');
  const endUserId = textOf(query, 'end_user_id', LIMITS.session.endUserId);
  const search = textOf(query, 'search', LIMITS.session.search);
  const statuses = statusesOf(query);
  const createdAfter = momentOf(query, 'created_after');
  const createdBefore = momentOf(query, 'created_before');
  return {
    ...(agentId !== undefined && { agentId }),
    ...(callerNumber !== undefined && { callerNumber }),
    ...(endUserId !== undefined && { endUserId }),
    ...(search !== undefined && { search }),
    ...(statuses && { statuses }),
    ...(createdAfter && { createdAfter }),
    ...(createdBefore && { createdBefore }),
  };
}
