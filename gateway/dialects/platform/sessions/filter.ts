/** The filters of `GET /v1/agent/sessions` (docs/contract/platform.md 6.7). Errors in a query are 400. */
import { LIMITS } from '../../../../contracts/limits.js';
import { DIRECTIONS } from '../../../../contracts/phone/phone.js';
import {
  SESSION_STATUSES,
  type SessionFilter,
  type SessionStatus,
} from '../../../../contracts/ports/sessions/sessions.js';
import { momentOf } from '../moments.js';
import { badQuery, numberOf, oneOf, textOf } from '../paging.js';

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

/** Errors: `invalid_request`. */
export function filterOf(query: URLSearchParams): SessionFilter {
  const agentId = textOf(query, 'agent_id', LIMITS.session.agentId);
  const callerNumber = numberOf(query, 'caller_number');
  const direction = oneOf(query, 'direction', DIRECTIONS);
  const endUserId = textOf(query, 'end_user_id', LIMITS.session.endUserId);
  const search = textOf(query, 'search', LIMITS.session.search);
  const statuses = statusesOf(query);
  const createdAfter = momentOf(query, 'created_after');
  const createdBefore = momentOf(query, 'created_before');
  return {
    ...(agentId !== undefined && { agentId }),
    ...(callerNumber !== undefined && { callerNumber }),
    ...(direction && { direction }),
    ...(endUserId !== undefined && { endUserId }),
    ...(search !== undefined && { search }),
    ...(statuses && { statuses }),
    ...(createdAfter && { createdAfter }),
    ...(createdBefore && { createdBefore }),
  };
}
