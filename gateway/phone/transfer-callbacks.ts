/**
 * A provider's callbacks about a transfer (transferring.ts): for a cold one, whether somebody has answered; for a warm one, the
 * states of the call to the colleague.
 *
 * Invariants: nothing counts without a signature with the number's secret, and nothing reveals whether a transfer is known; one
 * that has ended stays so.
 */
import { ServiceError } from '../../contracts/errors.js';
import type { DialledNumbers, DiallingNumbers } from '../../contracts/ports/phone/phone.js';
import type { Transfers } from '../../contracts/ports/phone/transfers.js';
import type { SessionRuns } from '../../contracts/ports/sessions/sessions.js';
import type { Clock } from '../../contracts/clock.js';
import type { LastTransferState, Transfer } from '../../contracts/phone/transfers.js';
import type { HttpRequest, Reply } from '../server/port.js';
import { accepted, answerOnce } from './answering.js';
import { forged } from './claims.js';
import type { CallReport, DialledReport } from './dialling.js';
import type { Webhook } from './provider.js';
import { aboutNothing, reportOf, signedCallback, type Spoken } from './signed-callback.js';
import type { StreamProofs, StreamTokens } from './stream-tokens.js';
import { legOf, type Transferring } from './transferring.js';

export interface TransferCallbackParts {
  readonly transfers: Transfers;
  readonly transferring: Pick<Transferring, 'finish' | 'end' | 'hangUp'>;
  readonly runs: Pick<SessionRuns, 'end'>;
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
  const find = () => parts.transfers.find(request.params['transfer_id'] ?? '');
  const { found: transfer, webhook } = await signedCallback(request, spoken, find, parts);
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

/** Ends of the colleague's call before the caller is connected. */
const ENDS: Readonly<Partial<Record<NonNullable<CallReport['state']>, LastTransferState>>> = {
  busy: 'busy',
  no_answer: 'no_answer',
  failed: 'failed',
  cancelled: 'failed',
  ended: 'refused',
};

/** States in which both calls are on their way into a room. */
const MEETING: ReadonlySet<Transfer['state']> = new Set(['accepted', 'connected']);

const COLLEAGUE_LEFT = 'The colleague hung up';

/** Errors: those of `told`, `invalid_request`. */
export const noteTransfer: Answered = async (request, spoken, parts) => {
  const { transfer, webhook } = await told(request, spoken, parts);
  const report = reportOf(spoken, webhook);
  if (transfer.mode === 'warm') return noteColleague(transfer, report, parts);
  if ((report.parentId ?? transfer.callerCallId) !== transfer.callerCallId) throw forged();
  if (report.state === 'answered') await connected(transfer, parts);
  return DONE;
};

/** How and why the colleague's call ends by that report; undefined if it does not. */
function endOf({ state, code, answeredBy }: CallReport): readonly [LastTransferState, string?] | undefined {
  const last = state && ENDS[state];
  if (!last) return answeredBy === 'machine' ? ['voicemail'] : undefined;
  if (state === 'ended') return [last, COLLEAGUE_LEFT];
  return code === undefined ? [last] : [last, `The provider’s code is ${code}`];
}

async function noteColleague(
  transfer: Transfer,
  report: CallReport,
  { transfers, transferring }: TransferCallbackParts,
): Promise<Reply> {
  const { callId } = report;
  if ((transfer.callId ?? callId) !== callId) throw forged();
  const current = await transfers.report(transfer.id, { callId });
  const end = endOf(report);
  if (current && end) await transferring.end(current, ...end);
  if (current) return DONE;
  const isConnected = (await transfers.find(transfer.id))?.state === 'connected';
  const isOver = report.state !== undefined && report.state in ENDS;
  // A caller who enters the room after the colleague has left would wait there.
  if (isConnected && isOver) transferring.hangUp(transfer, transfer.callerCallId);
  if (!isConnected && !isOver) transferring.hangUp(transfer, callId);
  return DONE;
}

/** Report of who has answered: an answering machine ends the transfer. Errors: those of `ofColleague`. */
export const noteColleagueIs: Answered = async (request, spoken, parts) => {
  const { transfer, report } = await ofColleague(request, spoken, parts);
  if (report.answeredBy === 'machine' && transfer.endedAt === null)
    await parts.transferring.end(transfer, 'voicemail');
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
  const { mode, state, callerCallId, callId, id: name } = transfer;
  if (report.callId !== callerCallId && (mode === 'cold' || report.callId !== callId)) throw forged();
  if (mode === 'warm' && MEETING.has(state)) return dialling.meet({ name });
  const isAsked = mode === 'cold' && transfer.endedAt === null;
  return isAsked ? dialling.dial(legOf(transfer, request.baseUrl)) : dialling.ended;
};

/** The provider has connected the caller: ends the session. */
async function connected({ id, sessionId }: Transfer, parts: TransferCallbackParts): Promise<void> {
  if (await parts.transferring.finish(id, 'connected')) await parts.runs.end(sessionId, 'transferred');
}

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
  await settle(transfer, report, parts);
  if (await isBack(transfer, report, parts))
    return accepted(request, provider, { sessionId: id, callId }, parts);
  return report.asks ? dialling.ended : DONE;
};

async function settle(
  transfer: Transfer,
  { state, waits }: DialledReport,
  parts: TransferCallbackParts,
): Promise<void> {
  const { id, sessionId } = transfer;
  if (state === 'answered') await connected(transfer, parts);
  else if (state && waits) await parts.transferring.finish(id, state);
  else if (state && (await parts.transferring.finish(id, 'cancelled', 'The caller hung up')))
    await parts.runs.end(sessionId, 'hangup');
}

/** Whether the caller is still there, and nobody has the call. */
async function isBack(
  { id, numberId }: Transfer,
  { state, waits, asks }: DialledReport,
  { transfers, numbers }: TransferCallbackParts,
): Promise<boolean> {
  const current = await transfers.find(id);
  const isOver = !!current?.endedAt && current.state !== 'connected' && !current.returnedAt;
  if (!isOver || !waits || state === 'answered' || state === undefined) return false;
  // A provider that does not ask obeys every reply, also a second one for the same leg.
  return asks || (numberId !== null && numbers.note(numberId, `${id} back`));
}
