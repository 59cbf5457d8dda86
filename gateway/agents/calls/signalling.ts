/**
 * Joining a conversation: LiveKit's signalling on `/rtc/v1` and `/rtc` (docs/contract/transport.md), and the two addresses that its
 * clients ask when a join was refused. Frames pass through to the call; this decides only who may join.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { JoinClaims, JoinTokens } from '../../../contracts/ports/calls/join-tokens.js';
import type { SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import { bearerToken } from '../../server/auth.js';
import { nativeError } from '../../server/native-error.js';
import type { Dialect, HttpRequest, Reply, Route, Socket, SocketRoute } from '../../server/port.js';
import { join, type JoiningParts, refused, refusedFor } from './joining.js';
import type { Connect } from './node-relay.js';
import { type WebhookParts, webhooks } from './webhooks.js';

export interface MediaParts extends JoiningParts {
  readonly joinTokens: JoinTokens;
  readonly runs: JoiningParts['runs'] & Pick<SessionRuns, 'refusal' | 'isLost'>;
}

const PATHS = { 1: '/rtc/v1', 0: '/rtc' } as const;

/** Reads the token: browsers put it in the query, native clients in a header. Errors: `missing_key`, `invalid_key`. */
async function claimsOf(request: HttpRequest, { joinTokens }: MediaParts): Promise<JoinClaims> {
  const token = request.query.get('access_token') ?? bearerToken(request.headers);
  if (!token) throw new ServiceError('missing_key', { message: 'Missing token' });
  const claims = await joinTokens.verify(token);
  if (!claims) throw refused('Invalid token');
  return claims;
}

function open(socket: Socket, sessionId: string, connect: Connect) {
  socket.chargeTo(`session:${sessionId}`);
  const end = connect({
    memory: socket.memory('frame'),
    send: (frame: Uint8Array | string) => socket.send(frame),
    close: () => socket.close('normal'),
  });
  if (!end) socket.close('normal');
  return {
    message: (data: string | Uint8Array) => end?.receive(data),
    closed: () => end?.closed(),
  };
}

/** A client that packs its join into one parameter speaks `/rtc/v1`, on either path (the Go client uses `/rtc`). */
const versionOf = (query: URLSearchParams, path: 1 | 0): 1 | 0 => (query.has('join_request') ? 1 : path);

const signalling = (path: 1 | 0, parts: MediaParts): SocketRoute => ({
  path: PATHS[path],
  // Authenticated by the session's join token.
  permission: 'open',
  whileDraining: true,
  async upgrade(request) {
    const { sessionId, use } = await claimsOf(request, parts);
    const { query } = request;
    const from = request.fromPrivateNetwork ? request.clientAddress : '';
    const how = { version: versionOf(query, path), query, from };
    const connect = await join({ sessionId, use, how }, parts);
    return {
      maxFrameBytes: LIMITS.socket.rtcFrameBytes,
      // Calls end by their own longest duration (docs/contract/decisions.md 9).
      connectionMs: null,
      open: (socket) => open(socket, sessionId, connect),
    };
  },
});

/** A client whose join was refused asks here why; it spends nothing. */
const validation = (version: 1 | 0, parts: MediaParts): Route => ({
  method: 'GET',
  path: `${PATHS[version]}/validate`,
  // Authenticated by the session's join token.
  permission: 'open',
  whileDraining: true,
  async handler(request): Promise<Reply> {
    const { sessionId, use } = await claimsOf(request, parts);
    await parts.calls.settled(sessionId);
    const why = await parts.runs.refusal(sessionId);
    const mayReturn = why === 'used' && (use === 'rejoin' || (await parts.runs.isLost(sessionId)));
    if (why && !mayReturn) throw refusedFor(why);
    return { status: 200, headers: { 'content-type': 'text/plain' }, body: 'success' };
  },
});

/** Livekit mode: clients join the cluster, which reports the events of its rooms. */
export const clusterDialect = (parts: WebhookParts): Dialect => ({
  name: 'media',
  prefixes: ['/livekit'],
  routes: [webhooks(parts)],
  sockets: [],
  errorReply: nativeError,
});

export const mediaDialect = (parts: MediaParts): Dialect => ({
  name: 'media',
  prefixes: ['/rtc'],
  routes: [validation(1, parts), validation(0, parts)],
  sockets: [signalling(1, parts), signalling(0, parts)],
  errorReply: nativeError,
});
