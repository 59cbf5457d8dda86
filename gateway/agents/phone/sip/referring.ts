/**
 * Transfers of callers who come by SIP, with REFER: the caller's own side calls somebody else, and reports the outcome. The row is
 * like that of other providers' cold transfers (../transferring.ts); there are no callbacks, as the answer is waited for.
 */
import { whyOf } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Log } from '../../../../contracts/log.js';
import type { PhoneNumbers } from '../../../../contracts/ports/phone/phone.js';
import type { Transfers } from '../../../../contracts/ports/phone/transfers.js';
import type { SessionRecord } from '../../../../contracts/ports/sessions/sessions.js';
import type { SipReferral, SipService } from '../../../../contracts/ports/phone/sip.js';
import type { Transfer } from '../../../../contracts/phone/transfers.js';
import type { PhoneTransfer, TransferRequest } from '../../conversations/tools/tool.js';
import {
  type Called,
  HUNG_UP,
  NO_NUMBER,
  ownOf,
  type Transferring,
  UNDER_WAY,
  whyNot,
} from '../transferring.js';
import { isSip } from './numbers.js';

export interface ReferringParts {
  readonly transfers: Pick<Transfers, 'begin'>;
  readonly transferring: Pick<Transferring, 'report' | 'destinationOf'>;
  readonly numbers: Pick<PhoneNumbers, 'named'>;
  readonly sip: Pick<SipService, 'refer'>;
  readonly log: Log;
}

const { transferRing, apiMs } = LIMITS.phone;
/** The service answers within this time: a row that is still open after it has lost its process. */
const DUE_MS = transferRing * 1000 + 2 * apiMs;

export type Referred = Called & Pick<SessionRecord, 'room'>;

/** Transfers of the caller in a session's room. */
export const referring = (called: Referred, parts: ReferringParts): PhoneTransfer => ({
  modes: ['cold'],
  async begin(wanted) {
    const to = parts.transferring.destinationOf(wanted.to);
    if (to === undefined) return NO_NUMBER;
    const room = called.room ?? called.id;
    const transfer = await rowOf({ ...wanted, to }, called, room, parts);
    if (!transfer) return UNDER_WAY;
    const refusal = await parts.sip.refer(room, to, transferRing);
    return refusal
      ? refused(transfer, wanted.signal.aborted ? CALLER_LEFT : refusal, parts)
      : connected(transfer, parts);
  },
});

const CALLER_LEFT: SipReferral = { state: 'cancelled', reason: HUNG_UP };

/** Undefined if the session has a transfer already, or has ended. */
async function rowOf(
  { toolCallId, label, to }: TransferRequest,
  called: Referred,
  room: string,
  { transfers, numbers }: ReferringParts,
): Promise<Transfer | undefined> {
  const named = await numbers.named(ownOf(called), called.workspaceId);
  return transfers.begin({
    sessionId: called.id,
    numberId: named.find(isSip)?.id ?? null,
    provider: 'sip',
    mode: 'cold',
    callerCallId: room,
    toolCallId,
    label,
    to,
    briefing: null,
    dueMs: DUE_MS,
  });
}

/** The caller has been connected, even if the row cannot be written. */
async function connected(transfer: Transfer, { transferring, log }: ReferringParts): Promise<undefined> {
  try {
    await transferring.report(transfer, 'connected');
  } catch (error) {
    log.warn({ transfer: transfer.id, ...whyOf(error) }, 'a transfer was not noted');
  }
}

/** Ends the transfer. Resolves to the reason, as text for the model. */
async function refused(
  transfer: Transfer,
  { state, reason }: SipReferral,
  { transferring }: ReferringParts,
): Promise<string> {
  const ended = await transferring.report(transfer, state, { reason });
  return whyNot(ended ?? { ...transfer, state, reason: reason ?? null });
}
