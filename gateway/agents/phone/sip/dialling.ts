/**
 * Calls placed through a LiveKit cluster's SIP service: the agent waits in the session's room, and the service calls
 * somebody from there. It is asked once, and its answer reports the outcome.
 */
import type { Clock } from '../../../../contracts/clock.js';
import { errorText, ServiceError } from '../../../../contracts/errors.js';
import type { RoomCalls } from '../../../../contracts/ports/calls/calls.js';
import type { OpenedNumber } from '../../../../contracts/ports/phone/phone.js';
import type { PlacedCall } from '../../../../contracts/ports/phone/placed-calls.js';
import type { RunningSession, SessionRuns } from '../../../../contracts/ports/sessions/sessions.js';
import type { SipRefusal, SipService } from '../../../../contracts/ports/phone/sip.js';
import { repeat } from '../../../../contracts/time/repeat.js';

export interface SipDiallingParts {
  readonly sip: Pick<SipService, 'dial' | 'caller'>;
  readonly runs: Pick<SessionRuns, 'unowned'>;
  readonly rooms: Pick<RoomCalls, 'removeRoom'>;
  /** Resolves when an agent waits in the session's room. Errors: `engine_busy`, `transport_failed`. */
  prepare(session: RunningSession): Promise<void>;
  readonly clock: Clock;
}

/** Interval between two checks whether it rings. */
const LOOK_MS = 500;
const SESSION_GONE: SipRefusal = { state: 'failed', reason: 'Its session has ended' };

export class SipDialling {
  constructor(private readonly parts: SipDiallingParts) {}

  /** Undefined once somebody has answered. `rings`: called once the other side's phone rings. */
  async dial(call: PlacedCall, from: OpenedNumber, rings: () => void): Promise<SipRefusal | undefined> {
    const { runs, sip, prepare } = this.parts;
    const room = call.sessionId ?? '';
    const session = await runs.unowned(room);
    if (!session) return SESSION_GONE;
    try {
      await prepare(session);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { state: 'failed', reason: errorText(error) };
    }
    const stop = this.#listen(room, rings);
    const { server = '', username = '', password = '' } = from.api;
    const { address } = from.number;
    const leg = { room, from: address, to: call.to, ringSeconds: call.maxRingSeconds };
    return sip.dial({ ...leg, server, username, password }).finally(stop);
  }

  #listen(room: string, rings: () => void): () => void {
    const { sip, clock } = this.parts;
    const look = async (): Promise<void> => {
      if (!(await sip.caller(room))?.rings) return;
      stop();
      rings();
    };
    const stop = repeat(clock, LOOK_MS, look, () => undefined);
    return stop;
  }

  /** Stops the ringing, or hangs up, by removing the room. */
  async hangUp({ sessionId }: PlacedCall): Promise<void> {
    if (sessionId !== null) await this.parts.rooms.removeRoom(sessionId);
  }
}
