/**
 * What a provider asks and tells about a call that was placed (placing.ts): what happens now that it is answered, and its states.
 *
 * Invariants: as for calls that come in, nothing counts without a signature by the number's secret, and nobody is told
 * whether a call is known; a call that is over stays so, and a question about it is answered with its end.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { LastCallState } from '../../contracts/phone.js';
import type { DialledNumbers, DiallingNumbers } from '../../contracts/ports/phone.js';
import type { PlacedCall, PlacedCalls } from '../../contracts/ports/placed-calls.js';
import type { HttpRequest, Reply } from '../server/port.js';
import { accepted, answerOnce, webhookOf } from './answering.js';
import type { CallReport, Dialling } from './dialling.js';
import type { Placing } from './placing.js';
import type { Provider } from './provider.js';
import type { StreamTokens } from './stream-tokens.js';

export interface CallbackParts {
  readonly placed: PlacedCalls;
  readonly numbers: DiallingNumbers & Pick<DialledNumbers, 'note'>;
  readonly placing: Pick<Placing, 'ended' | 'hangUp' | 'giveUp' | 'leaveMessage'>;
  readonly tokens: Pick<StreamTokens, 'issue'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** How the provider speaks, and how it is asked. */
export interface Spoken {
  readonly provider: Provider;
  readonly dialling: Dialling;
}

interface Told {
  readonly call: PlacedCall;
  /** Before it was told of. */
  readonly before: PlacedCall;
  readonly report: CallReport;
}

const forged = (): ServiceError => new ServiceError('forbidden', { message: 'Invalid signature' });

const LAST: ReadonlySet<string> = new Set<LastCallState>([
  'busy',
  'no_answer',
  'failed',
  'cancelled',
  'ended',
]);
const isLast = (state: CallReport['state']): state is LastCallState => state !== undefined && LAST.has(state);

/** Errors: `forbidden`, `invalid_request` for a callback about nothing. */
async function told(
  request: HttpRequest,
  { provider, dialling }: Spoken,
  { placed, numbers, clock }: CallbackParts,
  as: (report: CallReport) => CallReport,
): Promise<Told> {
  const webhook = await webhookOf(request);
  const before = await placed.find(request.params['call_id'] ?? '');
  const number = before?.numberId ? await numbers.open(before.numberId) : undefined;
  if (!before || !number || before.provider !== provider.name) throw forged();
  if (!provider.isSigned(webhook, number.secret, clock.now())) throw forged();
  request.authenticated();
  const report = dialling.report(webhook);
  if (!report) throw new ServiceError('invalid_request', { message: 'The callback is about no call' });
  const call = await placed.report(before.id, as(report));
  // Signed, and about another call of the same number.
  if (!call) throw forged();
  return { call, before, report };
}

/** It is answered: a media stream, once. Errors: those of `told`, `conflict` where it was asked before. */
export async function answerPlaced(
  request: HttpRequest,
  spoken: Spoken,
  parts: CallbackParts,
): Promise<Reply> {
  const { provider, dialling } = spoken;
  const { call } = await told(request, spoken, parts, (report) => ({ ...report, state: 'answered' }));
  const { callId, numberId, sessionId } = call;
  if (call.endedAt || callId === null || numberId === null || sessionId === null) return dialling.ended;
  await answerOnce(numberId, callId, parts.numbers);
  return accepted(request, provider, { sessionId, callId }, parts.tokens);
}

/** Errors: those of `told`. */
export async function notePlaced(request: HttpRequest, spoken: Spoken, parts: CallbackParts): Promise<Reply> {
  const { call, before, report } = await told(request, spoken, parts, (each) => each);
  const { state, code } = report;
  const reason = code !== undefined && state !== 'ended' ? `The provider’s code is ${code}` : undefined;
  if (isLast(state)) await parts.placing.ended(call, state, reason);
  // It was cancelled before anybody knew what the provider calls it.
  else if (call.endedAt && before.callId === null) parts.placing.hangUp(call);
  return { status: 204 };
}

/** Who has answered; what was agreed for a machine is done once. Errors: those of `told`. */
export async function noteAnswerer(
  request: HttpRequest,
  spoken: Spoken,
  parts: CallbackParts,
): Promise<Reply> {
  const { call, report } = await told(request, spoken, parts, ({ state: _, ...each }) => each);
  const { numberId, callId, voicemail } = call;
  const { action } = voicemail ?? {};
  // A fax has no greeting that could end.
  const isTime = action === 'hang_up' || (action === 'leave_message' && report.greeted === true);
  if (report.answeredBy !== 'machine' || call.endedAt || !isTime || numberId === null) return { status: 204 };
  if (!(await parts.numbers.note(numberId, `${callId} voicemail`))) return { status: 204 };
  if (action === 'hang_up') await parts.placing.giveUp(call);
  else parts.placing.leaveMessage(call);
  return { status: 204 };
}
