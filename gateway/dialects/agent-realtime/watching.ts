/** Who follows a call that has begun elsewhere, beside its client (docs/contract/agent-realtime.md 8). */
import { ServiceError } from '../../../contracts/errors.js';
import { isId } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Clock } from '../../../contracts/clock.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import {
  carriedHere,
  type EventsOf,
  type SocketCalls,
  type WayToCall,
} from '../../../contracts/ports/calls/socket-calls.js';
import type { HttpRequest } from '../../server/port.js';
import { workspaceOf } from './admission.js';
import type { AgentRealtimeParts } from './parts.js';

/** Interval between two looks for a call that has not begun. */
const LOOK_MS = 250;

const noCall = (): ServiceError =>
  new ServiceError('not_found', {
    message: 'No call of this API has this id, or it has ended',
    param: 'call_id',
  });

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
  const caller = await workspaceOf(request, parts);
  const calls = carriedHere(parts.calls);
  if (!isId(callId)) throw noCall();
  const { workspaceId } = caller;
  const way = await found({ id: callId, workspaceId }, calls, request, parts.clock);
  if (!way) throw noCall();
  return { way, caller };
}
