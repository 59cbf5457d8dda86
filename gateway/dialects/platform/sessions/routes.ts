/** Reading and ending sessions: key first, then the address. Another workspace's session is not found. */
import type { Caller, KeyAuthority } from '../../../../contracts/ports/identity.js';
import type { Recordings } from '../../../../contracts/ports/recordings.js';
import type { SessionDetail, SessionRuns, Sessions } from '../../../../contracts/ports/sessions.js';
import { authenticate } from '../../../server/auth.js';
import type { HttpRequest, Reply } from '../../../server/port.js';
import { pageBody, pageRequest } from '../paging.js';
import { found, idOf, json } from '../rows.js';
import { entityOf, rowOf } from './entity.js';
import { filterOf } from './filter.js';

export interface ReadingParts {
  readonly keys: KeyAuthority;
  readonly sessions: Sessions;
  readonly runs: Pick<SessionRuns, 'end'>;
  readonly recordings: Recordings;
}

export type Handler = (request: HttpRequest, parts: ReadingParts, caller: Caller) => Promise<Reply>;

export const LIST = 'sessions';

/** Errors: `not_found`. */
async function sessionOf(
  request: HttpRequest,
  { sessions }: ReadingParts,
  { workspaceId }: Caller,
): Promise<SessionDetail> {
  return found(await sessions.read(idOf(request, 'session_id', 'Session'), workspaceId), 'Session');
}

export const list: Handler = async ({ query }, { sessions }, { workspaceId }) => {
  const page = pageRequest(query, LIST);
  return json(200, pageBody(LIST, LIST, await sessions.list(workspaceId, filterOf(query), page), rowOf));
};

export const read: Handler = async (request, parts, caller) =>
  json(200, entityOf(await sessionOf(request, parts, caller)));

export const recording: Handler = async (request, parts, caller) => {
  const { id } = await sessionOf(request, parts, caller);
  return json(200, found(await parts.recordings.read(id, request.baseUrl), 'Recording'));
};

/** An ended session stays as it ended. */
export const end: Handler = async (request, parts, caller) => {
  const { id } = await sessionOf(request, parts, caller);
  await parts.runs.end(id, 'ended_by_api');
  return { status: 204 };
};

/** A handler that knows who calls. Errors: `missing_key`, `invalid_key`. */
export const authenticated =
  (handler: Handler, parts: ReadingParts) =>
  async (request: HttpRequest): Promise<Reply> =>
    handler(request, parts, await authenticate(request, parts.keys));
