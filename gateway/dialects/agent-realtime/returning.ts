/** A client that comes back to its session by another socket (docs/contract/agent-realtime.md 6). */
import { ServiceError } from '../../../contracts/errors.js';
import { isId } from '../../../contracts/ids.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import type { RedeemedSecret } from '../../../contracts/ports/accounts/client-secrets.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import {
  carriedHere,
  type SocketCalls,
  type WayToCall,
} from '../../../contracts/ports/calls/socket-calls.js';
import type { RunningSession } from '../../../contracts/ports/sessions/sessions.js';
import { permitted } from '../../server/auth.js';
import type { HttpRequest } from '../../server/port.js';
import { agentIn } from '../protocol-a/agent-door.js';
import { workspaceOf } from './admission.js';
import type { AgentRealtimeParts } from './parts.js';
import { AgentSession } from './session.js';
import { DEFAULT_SETTINGS } from './settings.js';

/** Interval between two searches for the process of the session. */
const LOOK_MS = 200;

const noSession = (): ServiceError =>
  new ServiceError('not_found', {
    message: 'No session of an agent has this id, or it has ended',
    param: 'session_id',
  });

const again = (): ServiceError =>
  new ServiceError('overloaded', { message: 'The call cannot go on yet, try again', retryAfter: 1 });

interface Whose {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string | undefined;
}

type Found = { readonly way: WayToCall } | { readonly running: RunningSession };

/** As its process may have just died, it is looked for until it can be taken over. Errors: `not_found`, `overloaded`, `transport_failed`. */
async function found(
  whose: Whose,
  calls: SocketCalls,
  { sessions, clock }: AgentRealtimeParts,
): Promise<Found> {
  const { id, workspaceId, agentId } = whose;
  const end = clock.monotonic() + CALL_TIMES.takeoverMs;
  for (;;) {
    const way = await calls.wayTo(whose, 'return').catch((error: unknown) => {
      // A process that does not answer may be taken over soon.
      if (error instanceof ServiceError && error.code === 'transport_failed') return undefined;
      throw error;
    });
    if (way) return { way };
    if (!(await sessions.mayGoOn(id, workspaceId, agentId))) throw noSession();
    const running = await calls.takeOver(id);
    if (running) return { running };
    if (clock.monotonic() >= end) throw again();
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
  }
}

export interface Returned {
  readonly caller: Caller;
  /** To its session, where that lives. */
  readonly way: WayToCall | undefined;
  /** The session as it goes on here, if it does not. */
  goesOn(suffix: string): AgentSession;
}

const never = (): never => {
  throw new Error('the session lives elsewhere');
};

/** Errors: those of a key; `conflict`, `not_found`, `overloaded`, `draining`. */
export async function returned(
  request: HttpRequest,
  id: string,
  secret: RedeemedSecret | undefined,
  parts: AgentRealtimeParts,
): Promise<Returned> {
  const caller = secret ? permitted(secret.caller, 'sessions') : await workspaceOf(request, parts);
  const calls = carriedHere(parts.calls);
  if (!isId(id)) throw noSession();
  const { workspaceId } = caller;
  const agentId = agentIn(secret?.session['model']);
  if (secret && agentId === undefined)
    throw new ServiceError('forbidden', { message: 'This client secret is for another model' });
  const whose = { id, workspaceId, agentId };
  const at = await found(whose, calls, parts);
  if ('way' in at) return { caller, way: at.way, goesOn: never };
  const { running } = at;
  const giveUp = (): void =>
    void calls.giveUp(id).catch((err: unknown) => parts.log.warn({ err }, 'a session was not given up'));
  try {
    const { session, overrides } = await parts.sessions.goesOn(running);
    request.signal.addEventListener('abort', giveUp, { once: true });
    const goesOn = (suffix: string): AgentSession => {
      request.signal.removeEventListener('abort', giveUp);
      const settings = { ...DEFAULT_SETTINGS, overrides };
      return new AgentSession(
        { session, settings, suffix, byRtp: false, resumed: running },
        { ...parts, calls },
      );
    };
    return { caller, way: undefined, goesOn };
  } catch (error) {
    giveUp();
    throw error;
  }
}
