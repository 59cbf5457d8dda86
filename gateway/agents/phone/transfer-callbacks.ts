/**
 * A provider's callbacks about a transfer (transferring.ts): for a cold one, whether somebody has answered; for a warm one, the
 * states of the call to the colleague. They are read here; what they do is decided by contracts/phone/transfer-states.ts.
 *
 * Invariants: nothing counts without a signature with the number's secret, and nothing reveals whether a transfer is known; one
 * that has ended stays so.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { DialledNumbers, DiallingNumbers } from '../../../contracts/ports/phone/phone.js';
import type { Transfers } from '../../../contracts/ports/phone/transfers.js';
import type { Clock } from '../../../contracts/clock.js';
import {
  isMeeting,
  isOpen,
  RETURNABLE,
  type TransferReport,
} from '../../../contracts/phone/transfer-states.js';
import type { Transfer } from '../../../contracts/phone/transfers.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import { accepted, answerOnce } from './answering.js';
import { forged } from './claims.js';
import type { CallReport, DialledReport } from './dialling.js';
import type { Webhook } from './provider.js';
import { aboutNothing, reportOf, signedCallback, type Spoken } from './signed-callback.js';
import type { StreamProofs, StreamTokens } from './stream-tokens.js';
import { legOf } from './transfer-urls.js';
import { HUNG_UP, type Transferring } from './transferring.js';

export interface TransferCallbackParts {
  readonly transfers: Transfers;
  readonly transferring: Pick<Transferring, 'report'>;
  readonly numbers: DiallingNumbers & Pick<DialledNumbers, 'note'>;
  readonly tokens: Pick<StreamTokens, 'issue'>;
  readonly proofs: Pick<StreamProofs, 'issue'>;
  readonly clock: Pick<Clock, 'now'>;
}

type Answered = (request: HttpRequest, spoken: Spoken, parts: TransferCallbackParts) => Promise<Reply>;

const DONE: Reply = { status: 204 };

/** Errors: `forbidden`. */
async function told(
  request: HttpRequest,
  spoken: Spoken,
  parts: TransferCallbackParts,
): Promise<{ readonly transfer: Transfer; readonly webhook: Webhook }> {
  const { found: transfer, webhook } = await signedCallback(
    request,
    spoken,
    'transfer_id',
    (id) => parts.transfers.find(id),
    parts,
  );
  return { transfer, webhook };
}

/** Reads a callback about the colleague's call. Errors: those of `told`, `invalid_request`. */
async function ofColleague(request: HttpRequest, spoken: Spoken, parts: TransferCallbackParts) {
  const { transfer, webhook } = await told(request, spoken, parts);
  const report = reportOf(spoken, webhook);
  if (transfer.mode !== 'warm' || (transfer.callId ?? report.callId) !== report.callId) throw forged();
  return { transfer, report };
}

/** The colleague has answered: gives the call a media stream, once. Errors: those of `ofColleague`, `conflict` if it was asked before. */
export const answerColleague: Answered = async (request, spoken, parts) => {
  const { transfer, report } = await ofColleague(request, spoken, parts);
  const { callId } = report;
  const current = await parts.transfers.report(transfer.id, { callId, state: 'answered' });
  if (!current || current.numberId === null) return spoken.dialling.ended;
  await answerOnce(current.numberId, callId, parts.numbers);
  return accepted(request, spoken.provider, { sessionId: transfer.id, callId }, parts);
};

/** Ends of the colleague's call, as reports about the transfer. */
const ENDS: Readonly<Partial<Record<NonNullable<CallReport['state']>, TransferReport>>> = {
  busy: 'busy',
  no_answer: 'no_answer',
  failed: 'failed',
  cancelled: 'failed',
  ended: 'left',
};

const COLLEAGUE_LEFT = 'The colleague hung up';

/** Errors: those of `told`, `invalid_request`. */
export const noteTransfer: Answered = async (request, spoken, parts) => {
  const { transfer, webhook } = await told(request, spoken, parts);
  const report = reportOf(spoken, webhook);
  if (transfer.mode === 'warm') return noteColleague(transfer, report, parts);
  if ((report.parentId ?? transfer.callerCallId) !== transfer.callerCallId) throw forged();
  if (report.state === 'answered') await parts.transferring.report(transfer, 'connected');
  return DONE;
};

/** What is reported about the colleague's call, and why if the report does not tell. */
function colleagueReport({
  state,
  code,
  answeredBy,
}: CallReport): readonly [TransferReport, reason: string | undefined] {
  const end = state && ENDS[state];
  if (!end) return [answeredBy === 'machine' ? 'voicemail' : 'under_way', undefined];
  if (end === 'left') return [end, COLLEAGUE_LEFT];
  return [end, code === undefined ? undefined : `The provider’s code is ${code}`];
}

async function noteColleague(
  transfer: Transfer,
  about: CallReport,
  { transfers, transferring }: TransferCallbackParts,
): Promise<Reply> {
  const { callId } = about;
  if ((transfer.callId ?? callId) !== callId) throw forged();
  const noted = await transfers.report(transfer.id, { callId });
  const current = noted ?? (await transfers.find(transfer.id));
  // Another call of the same number was reported at the same time.
  if (!current || (!noted && isOpen(current))) throw forged();
  const [report, reason] = colleagueReport(about);
  await transferring.report(current, report, { reason, callId });
  return DONE;
}

/** Report of who has answered: an answering machine ends the transfer. Errors: those of `ofColleague`. */
export const noteColleagueIs: Answered = async (request, spoken, parts) => {
  const { transfer, report } = await ofColleague(request, spoken, parts);
  if (report.answeredBy === 'machine' && isOpen(transfer))
    await parts.transferring.report(transfer, 'voicemail');
  return DONE;
};

/**
 * The document by which a transferred call continues, for a provider that fetches it. Errors: those of `told`, `invalid_request`,
 * `not_found` for other providers.
 */
export const documentOf: Answered = async (request, spoken, parts) => {
  const { transfer, webhook } = await told(request, spoken, parts);
  const { dialling } = spoken;
  const report = reportOf(spoken, webhook);
  if (!dialling.dial || !dialling.meet)
    throw new ServiceError('not_found', { message: 'The provider is told how the call goes on' });
  const { mode, callerCallId, callId, id: name } = transfer;
  if (report.callId !== callerCallId && (mode === 'cold' || report.callId !== callId)) throw forged();
  if (mode === 'warm' && isMeeting(transfer)) return dialling.meet({ name });
  return mode === 'cold' && isOpen(transfer)
    ? dialling.dial(legOf(transfer, request.baseUrl))
    : dialling.ended;
};

/**
 * The leg that the provider has dialled has ended, or nobody has answered: a caller who was not connected returns to the agent.
 * Errors: those of `told`, `invalid_request`.
 */
export const goOn: Answered = async (request, spoken, parts) => {
  const { transfer, webhook } = await told(request, spoken, parts);
  const { dialling, provider } = spoken;
  const report = dialling.dialled(webhook);
  if (!report) throw aboutNothing();
  const { id, callerCallId: callId } = transfer;
  if (transfer.mode !== 'cold' || (report.callId ?? callId) !== callId) throw forged();
  const [reported, reason] = dialledReport(report);
  if (reported) await parts.transferring.report(transfer, reported, { reason });
  if (await isBack(transfer, report, parts))
    return accepted(request, provider, { sessionId: id, callId }, parts);
  return report.asks ? dialling.ended : DONE;
};

/** What is reported about the leg that the provider has dialled, and why if the report does not tell; nothing while it rings. */
function dialledReport({ state, waits }: DialledReport): readonly [TransferReport?, reason?: string] {
  if (state === 'answered') return ['connected'];
  if (state && !waits) return ['hung_up', HUNG_UP];
  return state ? [state] : [];
}

/** Whether the caller is still there, and nobody has the call. */
async function isBack(
  { id, numberId }: Transfer,
  { state, waits, asks }: DialledReport,
  { transfers, numbers }: TransferCallbackParts,
): Promise<boolean> {
  const current = await transfers.find(id);
  const mayReturn = !!current && RETURNABLE.includes(current.state) && !current.returnedAt;
  if (!mayReturn || !waits || state === 'answered' || state === undefined) return false;
  // A provider that does not ask obeys every reply, also a second one for the same leg.
  return asks || (numberId !== null && numbers.note(numberId, `${id} back`));
}
