/**
 * A provider's callbacks about a placed call (placing.ts): it asks what to do once the call is answered, and reports its states. They
 * are read here; what they do is decided by contracts/phone/placed-states.ts.
 *
 * Invariants: as for incoming calls, nothing counts without a signature with the number's secret, and nothing reveals
 * whether a call is known; a call that has ended stays so, and a question about it is answered with its end.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { MESSAGE_ACTIONS } from '../../../contracts/phone/phone.js';
import { isLastCallState, type LastCallState } from '../../../contracts/phone/placed-states.js';
import type { DialledNumbers, DiallingNumbers } from '../../../contracts/ports/phone/phone.js';
import type { PlacedCall, PlacedCalls } from '../../../contracts/ports/phone/placed-calls.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import { accepted, answerOnce } from './answering.js';
import { forged } from './claims.js';
import type { CallReport } from './dialling.js';
import { type Placing, spokenOf } from './placing.js';
import { reportOf, signedCallback, type Spoken } from './signed-callback.js';
import type { StreamProofs, StreamTokens } from './stream-tokens.js';

export interface CallbackParts {
  readonly placed: PlacedCalls;
  readonly numbers: DiallingNumbers & Pick<DialledNumbers, 'note' | 'prove'>;
  readonly placing: Pick<Placing, 'report' | 'answered' | 'leaveMessage'>;
  readonly tokens: Pick<StreamTokens, 'issue'>;
  readonly proofs: Pick<StreamProofs, 'issue'>;
  readonly clock: Pick<Clock, 'now'>;
}

interface Told {
  readonly call: PlacedCall;
  /** The call before the report. */
  readonly before: PlacedCall;
  readonly report: CallReport;
}

/** Whether the provider reports that the call has ended. */
const isEnd = (state: CallReport['state']): state is Exclude<LastCallState, 'voicemail'> =>
  isLastCallState(state) && state !== 'voicemail';

/** Errors: `forbidden`, `invalid_request` for a callback about nothing. */
async function told(
  request: HttpRequest,
  spoken: Spoken,
  parts: CallbackParts,
  as: (report: CallReport) => CallReport,
): Promise<Told> {
  const { placed } = parts;
  const { found: before, webhook } = await signedCallback(
    request,
    spoken,
    'call_id',
    (id) => placed.find(id),
    parts,
  );
  const report = reportOf(spoken, webhook);
  const call = await placed.report(before.id, as(report));
  // Signed, and about another call of the same number.
  if (!call) throw forged();
  return { call, before, report };
}

const withoutState = ({ state: _, ...report }: CallReport): CallReport => report;

/** The call is answered: gives it a media stream, once. Errors: those of `told`, `conflict` if it was asked before. */
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
  // Nobody but the owner of the number is asked about its calls.
  await parts.numbers.prove(numberId);
  await parts.placing.answered(call);
  return accepted(request, provider, { sessionId, callId }, parts);
}

/** Does once what was agreed for an answering machine. */
async function meetMachine(
  { call, report }: Told,
  { baseUrl }: HttpRequest,
  { numbers, placing }: CallbackParts,
): Promise<void> {
  const { numberId, callId, voicemail } = call;
  const { action } = voicemail ?? {};
  // A fax has no greeting that could end.
  const leaves = MESSAGE_ACTIONS.has(action ?? '');
  const isTime = action === 'hang_up' || (leaves && report.greeted === true);
  if (report.answeredBy !== 'machine' || call.endedAt || !isTime || numberId === null) return;
  if (!(await numbers.note(numberId, `${callId} voicemail`))) return;
  if (action === 'hang_up') await placing.report(call, 'machine');
  else placing.leaveMessage(call, baseUrl);
}

/** The call's state, and who has answered if the provider reports that to the same address. Errors: those of `told`. */
export async function notePlaced(request: HttpRequest, spoken: Spoken, parts: CallbackParts): Promise<Reply> {
  const about = await told(request, spoken, parts, (each) => each);
  const { call, before } = about;
  const { state, code } = about.report;
  const reason = code !== undefined && state === 'failed' ? `The provider’s code is ${code}` : undefined;
  const report = isEnd(state) ? state : 'taken';
  if (report !== 'taken' || before.callId === null) await parts.placing.report(call, report, reason);
  if (report === 'taken') await meetMachine(about, request, parts);
  return { status: 204 };
}

/** Report of who has answered. Errors: those of `told`. */
export async function noteAnswerer(
  request: HttpRequest,
  spoken: Spoken,
  parts: CallbackParts,
): Promise<Reply> {
  await meetMachine(await told(request, spoken, parts, withoutState), request, parts);
  return { status: 204 };
}

/** The message for an answering machine, for a provider that fetches it. Errors: those of `told`, `not_found` for other providers. */
export async function messageOf(request: HttpRequest, spoken: Spoken, parts: CallbackParts): Promise<Reply> {
  const { dialling } = spoken;
  const { call } = await told(request, spoken, parts, withoutState);
  if (!dialling.message) throw new ServiceError('not_found', { message: 'The provider is told the message' });
  const isAgreed = MESSAGE_ACTIONS.has(call.voicemail?.action ?? '') && !call.endedAt;
  return isAgreed ? dialling.message(spokenOf(call)) : dialling.ended;
}
