/**
 * Incoming calls through a LiveKit cluster's SIP service: each is already in a room, and waits for the agent, whose job was given to
 * this process. Only now is the session made, for the caller in the room.
 *
 * Invariants: a room is answered once; a caller whom nobody can answer is rejected by removing the room, and with it the call.
 */
import { CALL_TIMES } from '../../../../contracts/limits/call-times.js';
import type { Clock } from '../../../../contracts/clock.js';
import { ServiceError, toServiceError } from '../../../../contracts/errors.js';
import { callerAddress } from '../../../../contracts/phone/phone.js';
import type { RoomCalls } from '../../../../contracts/ports/calls/calls.js';
import type {
  DialledNumbers,
  DiallingNumbers,
  PhoneNumber,
  PhoneSessions,
} from '../../../../contracts/ports/phone/phone.js';
import type { RunningSession, SessionRuns } from '../../../../contracts/ports/sessions/sessions.js';
import type { SipCaller, SipService } from '../../../../contracts/ports/phone/sip.js';
import type { Telephones } from '../../calls/livekit.js';
import { pause } from '../../conversations/record.js';
import { answerOnce } from '../answering.js';
import { referring, type ReferringParts } from './referring.js';

export interface SipAnsweringParts extends Omit<ReferringParts, 'sip' | 'numbers'> {
  readonly numbers: DiallingNumbers & Pick<DialledNumbers, 'note'> & ReferringParts['numbers'];
  readonly sessions: PhoneSessions;
  readonly runs: Pick<SessionRuns, 'unowned' | 'keepRoom'>;
  readonly sip: Pick<SipService, 'caller' | 'refer'>;
  readonly rooms: Pick<RoomCalls, 'removeRoom'>;
  readonly clock: Clock;
}

/** Interval between two checks whether the caller is in the room. */
const LOOK_MS = 100;

/** Errors: `conflict` if nobody came. */
async function callerIn(room: string, { sip, clock }: SipAnsweringParts): Promise<SipCaller> {
  const end = clock.monotonic() + CALL_TIMES.roomJoinMs;
  for (;;) {
    const caller = await sip.caller(room);
    if (caller) return caller;
    if (clock.monotonic() >= end) throw new ServiceError('conflict', { message: 'The caller has gone' });
    await pause(clock, LOOK_MS);
  }
}

/** Errors: those of `PhoneSessions.begin`, `conflict`, `transport_failed`. */
async function sessionFor(
  number: PhoneNumber | undefined,
  room: string,
  parts: SipAnsweringParts,
): Promise<RunningSession> {
  if (number?.provider !== 'sip' || !number.enabled || number.agentId === null)
    throw new ServiceError('conflict', { message: 'Nobody answers this number' });
  await answerOnce(number.id, room, parts.numbers);
  const { number: from } = await callerIn(room, parts);
  const leg = {
    callerNumber: callerAddress(from),
    dialedNumber: number.address,
    direction: 'inbound',
  } as const;
  const { id } = await parts.sessions.begin(number.agentId, number.workspaceId, leg);
  await parts.runs.keepRoom(id, room);
  const session = await parts.runs.unowned(id);
  if (!session) throw new ServiceError('conflict', { message: 'The session has ended' });
  return session;
}

export const telephones = (parts: SipAnsweringParts): Telephones => ({
  async answer(room, numberId) {
    const { numbers, rooms, log } = parts;
    const number = (await numbers.open(numberId))?.number;
    try {
      return await sessionFor(number, room, parts);
    } catch (error) {
      const { code, message } = toServiceError(error);
      const about = { provider: 'sip', phoneNumberId: numberId, workspaceId: number?.workspaceId };
      log.warn({ ...about, code, reason: message }, 'a phone call was rejected');
      await rooms.removeRoom(room);
      return undefined;
    }
  },
  transfer: (called) => referring(called, parts),
});
