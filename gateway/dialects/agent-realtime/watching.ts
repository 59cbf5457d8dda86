/** Who follows a call that has begun elsewhere, beside its client (docs/contract/agent-realtime.md 8). */
import { ServiceError } from '../../../contracts/errors.js';
import { isId } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Clock } from '../../../contracts/clock.js';
import { CLIENT_SECRET_PREFIX } from '../../../contracts/ports/accounts/client-secrets.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import {
  carriedHere,
  type EventsOf,
  type SocketCalls,
  type WayToCall,
} from '../../../contracts/ports/calls/socket-calls.js';
import { authenticateKey } from '../../server/auth.js';
import type { HttpRequest } from '../../server/port.js';
import { keyOf } from '../protocol-a/realtime/handshake.js';
import type { AgentRealtimeParts } from './parts.js';

/** Interval between two looks for a call that has not begun. */
const LOOK_MS = 250;

const noCall = (): ServiceError =>
  new ServiceError('not_found', {
    message: 'No call of this API has this id, or it has ended',
    param: 'call_id',
  });

/** A client in a browser has no business with the calls of others. Errors: those of `authenticateKey`, `forbidden`. */
async function callerOf(request: HttpRequest, { keys }: AgentRealtimeParts): Promise<Caller> {
  const key = keyOf(request);
  if (key?.startsWith(CLIENT_SECRET_PREFIX))
    throw new ServiceError('forbidden', { message: 'A call is watched with a key of its workspace' });
  return authenticateKey(key, keys, 'sessions');
}

/** A call that another process has is known there alone until it begins, which may be in a moment. */
async function found(
  session: EventsOf,
  calls: SocketCalls,
  { signal }: Pick<HttpRequest, 'signal'>,
  clock: Pick<Clock, 'monotonic' | 'after'>,
): Promise<WayToCall | undefined> {
  const end = clock.monotonic() + LIMITS.agentRealtime.watchedMs;
  for (;;) {
    const way = await calls.wayTo(session, 'watch');
    if (way || !calls.hasPeers || signal.aborted || clock.monotonic() >= end) return way;
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
  }
}

/** Errors: those of a key; `conflict`, `not_found`, `transport_failed`. */
export async function wayToCall(
  request: HttpRequest,
  callId: string,
  parts: AgentRealtimeParts,
): Promise<{ readonly way: WayToCall; readonly caller: Caller }> {
  const caller = await callerOf(request, parts);
  const calls = carriedHere(parts.calls);
  if (!isId(callId)) throw noCall();
  const { workspaceId } = caller;
  const way = await found({ id: callId, workspaceId }, calls, request, parts.clock);
  if (!way) throw noCall();
  return { way, caller };
}
