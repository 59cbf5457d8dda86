/** Listing, reading, ending and deleting sessions (docs/contract/platform.md 6.7): checks the key first, then the address. Sessions of other workspaces are not found. */
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { DIRECTIONS } from '../../../../contracts/phone/phone.js';
import type { Caller, KeyAuthority } from '../../../../contracts/ports/accounts/identity.js';
import type { Recordings } from '../../../../contracts/ports/sessions/recordings.js';
import { ErrorBody } from '../../../../contracts/schemas/shapes.js';
import { isLonger } from '../../../../contracts/text/text.js';
import type { SessionRuns, Sessions } from '../../../../contracts/ports/sessions/sessions.js';
import { answers, queryParameter } from '../../../server/openapi/openapi-parts.js';
import type { HttpRequest } from '../../../server/port.js';
import { json } from '../../../server/replies.js';
import { tagged } from '../../../server/routes.js';
import type * as routes from '../../../server/routes.js';
import { notFound } from '../errors.js';
import { badQuery, Page, pageBody, pageRequest, PAGING } from '../paging.js';
import { failures, found, idOf } from '../rows.js';
import { entityOf, rowOf } from './entity.js';
import { filterOf } from './filter.js';
import { RecordingEntity, ROW_EXAMPLE, SessionEntity, SessionRow, SessionsRemoved } from './schema.js';

export interface ReadingParts {
  readonly keys: KeyAuthority;
  readonly sessions: Sessions;
  readonly runs: Pick<SessionRuns, 'end'>;
  readonly recordings: Recordings;
}

type Handler = routes.RouteHandler<ReadingParts, Caller>;

const LIST = 'sessions';

const WHAT = 'Session';

const sessionIdOf = (request: HttpRequest): string => idOf(request, 'session_id', WHAT);

/** The id of an existing session. Errors: `not_found`. */
async function knownIdOf(
  request: HttpRequest,
  { sessions }: ReadingParts,
  { workspaceId }: Caller,
): Promise<string> {
  const id = sessionIdOf(request);
  if (await sessions.has(id, workspaceId)) return id;
  throw notFound(WHAT);
}

const list: Handler = async ({ query }, { sessions }, { workspaceId }) => {
  const page = pageRequest(query, LIST);
  return json(200, pageBody(LIST, LIST, await sessions.list(workspaceId, filterOf(query), page), rowOf));
};

const read: Handler = async (request, { sessions }, { workspaceId }) =>
  json(200, entityOf(found(await sessions.read(sessionIdOf(request), workspaceId), WHAT)));

const recording: Handler = async (request, parts, caller) => {
  const id = await knownIdOf(request, parts, caller);
  return json(200, found(await parts.recordings.read(id, request.baseUrl), 'Recording'));
};

/** Ends a session; an ended one stays as it is. */
const end: Handler = async (request, parts, caller) => {
  const id = await knownIdOf(request, parts, caller);
  await parts.runs.end(id, 'ended_by_api');
  return { status: 204 };
};

/** Errors: `not_found`, `conflict` while the session may still be joined or is running. */
const remove: Handler = async (request, { sessions }, { workspaceId }) => {
  const id = sessionIdOf(request);
  const removal = await sessions.remove(id, workspaceId);
  if (removal === 'unknown') throw notFound(WHAT);
  if (removal === 'live')
    throw new ServiceError('conflict', { message: 'Session has not ended; end it first' });
  return { status: 204 };
};

/** Refuses other parameters: ignoring a filter would delete more than was meant. Errors: `invalid_request`. */
function endUserOf(query: URLSearchParams): string {
  const foreign = [...query.keys()].find((name) => name !== 'end_user_id');
  if (foreign !== undefined) throw badQuery(foreign, `${foreign} is no filter of a deletion`);
  const [id = '', another] = query.getAll('end_user_id');
  const { endUserId: most } = LIMITS.session;
  if (id === '' || isLonger(id, most) || id.includes('\0') || another !== undefined)
    throw badQuery('end_user_id', `end_user_id must be one id of 1 to ${most} characters`);
  return id;
}

/** Deletes all sessions of an end user except running ones, until none is left or the client has gone. */
const removeOfUser: Handler = async (request, { sessions }, { workspaceId }) => {
  const endUserId = endUserOf(request.query);
  let deleted = 0;
  while (!request.signal.aborted) {
    const ids = await sessions.removeSomeOf(endUserId, workspaceId);
    if (ids.length === 0) break;
    deleted += ids.length;
  }
  return json(200, { deleted, kept: await sessions.countLiveOf(endUserId, workspaceId) });
};

const SESSIONS = '/v1/agent/sessions';
const SESSION = `${SESSIONS}/{session_id}`;

const Text = { type: 'string' };
const DateTime = { type: 'string', format: 'date-time' };

const FILTERS = [
  queryParameter(
    'search',
    { type: 'string', maxLength: LIMITS.session.search },
    'Only sessions in which all these words were said, or words that begin with them. Those that go on are not among them; the words of one are found some seconds after its end.',
  ),
  queryParameter('agent_id', Text, 'Only sessions of this agent.'),
  queryParameter('status', Text, 'One or several, separated by commas. Absent: all but `pending`.'),
  queryParameter(
    'caller_number',
    Text,
    'Only calls from or to this person’s number, with or without its plus.',
  ),
  queryParameter(
    'direction',
    { type: 'string', enum: [...DIRECTIONS] },
    'Only calls that were placed (`outbound`), or all others (`inbound`): sessions of clients, too.',
  ),
  queryParameter('end_user_id', Text, 'Only sessions of this end user.'),
  queryParameter('created_after', DateTime, 'Not before this moment.'),
  queryParameter('created_before', DateTime, 'Not after this moment.'),
];

export const SESSION_ROWS: readonly routes.RouteRow<ReadingParts, Caller>[] = tagged('sessions', [
  {
    method: 'GET',
    path: SESSIONS,
    permission: 'records',
    handler: list,
    description: {
      summary: 'List sessions',
      description: 'Newest first.',
      parameters: [...FILTERS, ...PAGING],
      responses: { ...answers(200, 'One page', Page(LIST, SessionRow, ROW_EXAMPLE)), ...failures(400) },
    },
  },
  {
    method: 'GET',
    path: SESSION,
    permission: 'records',
    handler: read,
    description: {
      summary: 'Read a session',
      responses: { ...answers(200, 'The session with its record', SessionEntity), ...failures(404) },
    },
  },
  {
    method: 'DELETE',
    path: SESSION,
    // Permanent: a key that creates sessions must not be able to erase their records.
    permission: 'manage',
    handler: remove,
    audit: { action: 'session.deleted', subject: 'session_id' },
    description: {
      summary: 'Delete a session',
      description:
        'With its transcript, analysis, recording and deliveries. Not while it runs or can still be joined.',
      responses: {
        ...answers(204, 'Gone'),
        ...failures(404),
        ...answers(409, 'The session has not ended', ErrorBody),
      },
    },
  },
  {
    method: 'DELETE',
    path: SESSIONS,
    // As for one session.
    permission: 'manage',
    handler: removeOfUser,
    audit: { action: 'sessions.deleted' },
    description: {
      summary: "Delete an end user's sessions",
      description:
        'All that were made with this `end_user_id`, except those that run or can still be joined; these are counted as ' +
        '`kept`: end them, and repeat the request. Repeat it, too, if no answer arrives.',
      parameters: [
        {
          name: 'end_user_id',
          in: 'query',
          required: true,
          schema: { type: 'string', minLength: 1, maxLength: LIMITS.session.endUserId },
        },
      ],
      responses: { ...answers(200, 'How many', SessionsRemoved), ...failures(400) },
    },
  },
  {
    method: 'GET',
    path: `${SESSION}/recording`,
    permission: 'records',
    handler: recording,
    description: {
      summary: "Read a session's recording",
      responses: { ...answers(200, 'The recording', RecordingEntity), ...failures(404) },
    },
  },
  {
    method: 'POST',
    path: `${SESSION}/end`,
    permission: 'sessions',
    whileDraining: true,
    handler: end,
    description: {
      summary: 'End a session',
      description:
        'At once, wherever its conversation runs. The record stays. Ending it again changes nothing.',
      responses: { ...answers(204, 'Ended'), ...failures(404) },
    },
  },
]);
