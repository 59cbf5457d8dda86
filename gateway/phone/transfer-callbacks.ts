/**
 * What a provider asks and tells about a transfer (transferring.ts): of a cold one whether somebody has answered, of a warm one
 * what becomes of the call to the colleague.
 *
 * Invariants: nothing counts without a signature by the number's secret, and nobody is told whether a transfer is known; one
 * that is over stays so.
 */
import { ServiceError } from '../../contracts/errors.js';
import type { DialledNumbers, DiallingNumbers } from '../../contracts/ports/phone.js';
import type { Transfers } from '../../contracts/ports/phone-transfers.js';
import type { SessionRuns } from '../../contracts/ports/sessions.js';
import type { Clock } from '../../contracts/clock.js';
import type { LastTransferState, Transfer } from '../../contracts/transfers.js';
import type { HttpRequest, Reply } from '../server/port.js';
import { accepted, answerOnce, webhookOf } from './answering.js';
import type { Spoken } from './callbacks.js';
import type { CallReport } from './dialling.js';
import type { Webhook } from './provider.js';
import type { StreamTokens } from './stream-tokens.js';
import type { Transferring } from './transferring.js';

export interface TransferCallbackParts {
  readonly transfers: Transfers;
  readonly transferring: Pick<Transferring, 'finish' | 'end' | 'hangUp'>;
  readonly runs: Pick<SessionRuns, 'end'>;
  readonly numbers: DiallingNumbers & Pick<DialledNumbers, 'note'>;
  readonly tokens: Pick<StreamTokens, 'issue'>;
  readonly clock: Pick<Clock, 'now'>;
}

type Answered = (request: HttpRequest, spoken: Spoken, parts: TransferCallbackParts) => Promise<Reply>;

const forged = (): ServiceError => new ServiceError('forbidden', { message: 'Invalid signature' });
const aboutNothing = (): ServiceError =>
  new ServiceError('invalid_request', { message: 'The callback is about no call' });

const DONE: Reply = { status: 204 };

/** Errors: `forbidden`. */
async function told(
  request: HttpRequest,
  { provider }: Spoken,
  { transfers, numbers, clock }: TransferCallbackParts,
): Promise<{ readonly transfer: Transfer; readonly webhook: Webhook }> {
  const webhook = await webhookOf(request);
  const transfer = await transfers.find(request.params['transfer_id'] ?? '');
  const number = transfer?.numberId ? await numbers.open(transfer.numberId) : undefined;
  if (!transfer || !number || transfer.provider !== provider.name) throw forged();
  if (!provider.isSigned(webhook, number.secret, clock.now())) throw forged();
  request.authenticated();
  return { transfer, webhook };
}

/** Of the colleague's call. Errors: those of `told`, `invalid_request`. */
async function ofColleague(request: HttpRequest, spoken: Spoken, parts: TransferCallbackParts) {
  const { transfer, webhook } = await told(request, spoken, parts);
  const report = spoken.dialling.report(webhook);
  if (!report) throw aboutNothing();
  if (transfer.mode !== 'warm' || (transfer.callId ?? report.callId) !== report.callId) throw forged();
  return { transfer, report };
}

/** The colleague has answered: a media stream, once. Errors: those of `ofColleague`, `conflict` where it was asked before. */
export const answerColleague: Answered = async (request, spoken, parts) => {
  const { transfer, report } = await ofColleague(request, spoken, parts);
  const { callId } = report;
  const current = await parts.transfers.report(transfer.id, { callId, state: 'answered' });
  if (!current || current.numberId === null) return spoken.dialling.ended;
  await answerOnce(current.numberId, callId, parts.numbers);
  return accepted(request, spoken.provider, { sessionId: transfer.id, callId }, parts.tokens);
};

/** How the colleague's call may end before the caller is connected. */
const ENDS: Readonly<Partial<Record<NonNullable<CallReport['state']>, LastTransferState>>> = {
  busy: 'busy',
  no_answer: 'no_answer',
  failed: 'failed',
  cancelled: 'failed',
  ended: 'refused',
};

const COLLEAGUE_LEFT = 'The colleague hung up';

/** Errors: those of `told`, `invalid_request`. */
export const noteTransfer: Answered = async (request, spoken, parts) => {
  const { transfer, webhook } = await told(request, spoken, parts);
  const report = spoken.dialling.report(webhook);
  if (!report) throw aboutNothing();
  if (transfer.mode === 'warm') return noteColleague(transfer, report, parts);
  if ((report.parentId ?? transfer.callerCallId) !== transfer.callerCallId) throw forged();
  if (report.state === 'answered') await connected(transfer, parts);
  return DONE;
};

async function noteColleague(
  transfer: Transfer,
  { callId, state, code }: CallReport,
  { transfers, transferring }: TransferCallbackParts,
): Promise<Reply> {
  if ((transfer.callId ?? callId) !== callId) throw forged();
  const current = await transfers.report(transfer.id, { callId });
  const last = state && ENDS[state];
  if (current && last) {
    const reason = code === undefined ? undefined : `The provider’s code is ${code}`;
    await transferring.end(current, last, state === 'ended' ? COLLEAGUE_LEFT : reason);
  }
  if (current) return DONE;
  const isConnected = (await transfers.find(transfer.id))?.state === 'connected';
  // Whoever came into the room behind a colleague who has left would wait there.
  if (isConnected && last) transferring.hangUp(transfer, transfer.callerCallId);
  if (!isConnected && !last) transferring.hangUp(transfer, callId);
  return DONE;
}

/** A machine takes no call. Errors: those of `ofColleague`. */
export const noteColleagueIs: Answered = async (request, spoken, parts) => {
  const { transfer, report } = await ofColleague(request, spoken, parts);
  if (report.answeredBy === 'machine' && transfer.endedAt === null)
    await parts.transferring.end(transfer, 'voicemail');
  return DONE;
};

/** The provider has connected the caller: the session is over. */
async function connected({ id, sessionId }: Transfer, parts: TransferCallbackParts): Promise<void> {
  if (await parts.transferring.finish(id, 'connected')) await parts.runs.end(sessionId, 'transferred');
}

/**
 * What the provider has dialled in the place of the stream is over, or nobody has answered: the caller comes back to the agent.
 * Errors: those of `told`, `invalid_request`.
 */
export const goOn: Answered = async (request, spoken, parts) => {
  const { transfer, webhook } = await told(request, spoken, parts);
  const { dialling, provider } = spoken;
  const report = dialling.dialled?.(webhook);
  if (!report) throw aboutNothing();
  const { id, sessionId, callerCallId: callId } = transfer;
  if (transfer.mode !== 'cold' || report.callId !== callId) throw forged();
  if (report.state === 'answered') await connected(transfer, parts);
  else if (report.waits) await parts.transferring.finish(id, report.state);
  else if (await parts.transferring.finish(id, 'cancelled', 'The caller hung up'))
    await parts.runs.end(sessionId, 'hangup');
  const current = await parts.transfers.find(id);
  const isBack = report.waits && current?.endedAt && current.state !== 'connected' && !current.returnedAt;
  return isBack ? accepted(request, provider, { sessionId: id, callId }, parts.tokens) : dialling.ended;
};
