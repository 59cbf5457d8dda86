/**
 * Webhooks of a LiveKit server about its rooms (docs/contract/transport.md "Livekit mode"): a finished room ends its session, and the room
 * of a session that has ended is removed as soon as anybody joins it.
 *
 * Invariants: only events signed with the server's key count; the server may be shared with others, so only rooms of our
 * sessions are touched; events are idempotent.
 */
import type { Log } from '../../../contracts/log.js';
import { ServiceError, toServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { RoomCalls } from '../../../contracts/ports/calls/calls.js';
import type { SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import { readAll } from '../../server/bodies/body.js';
import type { HttpRequest, Reply, Route } from '../../server/port.js';

export interface WebhookParts {
  readonly server: { readonly key: string; readonly secret: string };
  readonly runs: Pick<SessionRuns, 'end' | 'hasEnded'>;
  readonly calls: Pick<RoomCalls, 'removeRoom'>;
  readonly log: Log;
}

const UTF8 = new TextDecoder();
/** Ids of our sessions, which name their rooms. */
const SESSION = /^sess_[0-9a-f]{24}$/;

/** Costs 20 MB, so not before the first event. */
const livekit = () => import('livekit-server-sdk');

type Handler = (room: string, parts: WebhookParts) => Promise<void>;

const HANDLERS: Readonly<Record<string, Handler>> = {
  async room_finished(room, { runs }) {
    await runs.end(room, 'hangup');
  },
  async participant_joined(room, { runs, calls }) {
    if (await runs.hasEnded(room)) await calls.removeRoom(room);
  },
};

interface RoomEvent {
  readonly event: string;
  readonly room: string;
}

/** Errors: `payload_too_large`, `missing_key`, `invalid_key`. */
async function eventOf(request: HttpRequest, { server }: WebhookParts): Promise<RoomEvent> {
  const signature = request.headers.get('authorization');
  if (!signature) throw new ServiceError('missing_key', { message: 'Missing signature' });
  const body = UTF8.decode(await readAll(request, LIMITS.unauthenticated.bodyBytes));
  const { WebhookReceiver } = await livekit();
  const receiver = new WebhookReceiver(server.key, server.secret);
  const { event, room } = await receiver.receive(body, signature).catch((cause: unknown) => {
    throw new ServiceError('invalid_key', { message: 'Invalid signature', cause });
  });
  return { event, room: room?.name ?? '' };
}

export const webhooks = (parts: WebhookParts): Route => ({
  method: 'POST',
  path: '/livekit/webhook',
  // Authenticated by the LiveKit server's signature.
  permission: 'open',
  whileDraining: true,
  async handler(request): Promise<Reply> {
    const { event, room } = await eventOf(request, parts);
    const handle = Object.hasOwn(HANDLERS, event) && SESSION.test(room) ? HANDLERS[event] : undefined;
    await handle?.(room, parts).catch((error: unknown) => {
      parts.log.warn({ err: error, event }, 'an event of the LiveKit server had no effect');
      // The server tries again.
      throw toServiceError(error);
    });
    return { status: 200 };
  },
});
