/**
 * Placing a call (docs/contract/platform.md 6.14): checks agent, numbers and the idempotency key, and creates the session that
 * waits for the answer. A repeated request with the same key gets the call that the first one made. Errors have a `reason`.
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../../../../contracts/limits.js';
import { MESSAGE_ACTIONS, type Voicemail } from '../../../../contracts/phone/phone.js';
import type { RunnableAgent } from '../../../../contracts/ports/agents/agents.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { PhoneNumber } from '../../../../contracts/ports/phone/phone.js';
import type {
  Idempotency,
  NewPlacedCall,
  PhoneDialling,
  PlacedCall,
  PlacedCalls,
} from '../../../../contracts/ports/phone/placed-calls.js';
import type { RunningSession } from '../../../../contracts/ports/sessions/sessions.js';
import type { HttpRequest } from '../../../server/port.js';
import { type JsonBody, readJsonBody } from '../bodies.js';
import { invalid, problem } from '../errors.js';
import { badQuery } from '../paging.js';
import { found } from '../rows.js';
import { type MakingParts, makeSession, publishedOf } from '../sessions/making.js';
import type { WithRawMetadata } from '../sessions/request.js';
import { localeOf } from '../sessions/voicemail.js';
import { type CallFields, type CallNumberParts, checkNumber, destinationOf, numberNamed } from './numbers.js';
import { because } from './reasons.js';
import type { CallRequest } from './schema.js';

export interface CallPlacingParts extends MakingParts, CallNumberParts {
  readonly placed: PlacedCalls;
  readonly dialling: PhoneDialling;
}

export type Wanted = WithRawMetadata<CallRequest>;

/** How a route asks for calls. */
export interface CallForm {
  /** The request as that of `/calls`. Errors: `validation_failed`. */
  read(body: JsonBody): Wanted;
  /** What its body calls the two numbers. */
  readonly fields: CallFields;
  /** As of `Idempotency`. */
  readonly keptMs?: number;
}

/** Errors: `validation_failed` for a message without its action, leaving a message without one, or a call over SIP. */
function voicemailOf(
  { voicemail, overrides }: Wanted,
  agent: RunnableAgent,
  { provider }: PhoneNumber,
): Voicemail | null {
  if (!voicemail) return null;
  if (provider === 'sip')
    throw invalid([problem(['voicemail'], 'voicemail cannot be had: nobody listens for machines on SIP')]);
  const { action, message } = voicemail;
  if (MESSAGE_ACTIONS.has(action) !== (typeof message === 'string'))
    throw invalid([
      problem(
        ['voicemail', 'message'],
        'voicemail.message goes with leave_message and leave_prompt_message, and only with these',
      ),
    ]);
  if (typeof message !== 'string') return { action };
  const language = overrides?.language ?? agent.version?.config.voice.speaking_language ?? 'en';
  return { action, message, language: localeOf(language) };
}

/**
 * The agent with the requested version, which can take calls. Errors: `not_found` (reason `agent_not_found`), `conflict`
 * (`agent_not_published`).
 */
async function agentOf(
  { agent_id: id, version_number: version }: Wanted,
  { agents }: CallPlacingParts,
  workspaceId: string,
): Promise<RunnableAgent> {
  const finding = version ? agents.version(id, workspaceId, version) : agents.find(id, workspaceId);
  const agent = await finding;
  const runnable = because('agent_not_found', () => found(agent, 'Agent'));
  because('agent_not_published', () => publishedOf(runnable));
  return runnable;
}

/** The idempotency key and the body's digest; undefined without a key. Errors: `invalid_request`. */
function idempotencyOf(
  { headers }: HttpRequest,
  { text }: JsonBody,
  { keptMs }: CallForm,
): Idempotency | undefined {
  const key = headers.get('idempotency-key');
  if (key === undefined) return undefined;
  const { min, max } = LIMITS.phone.idempotencyKey;
  if (key.length < min || key.length > max || !/^[\x20-\x7e]*$/.test(key))
    throw badQuery(
      'idempotency-key',
      `Idempotency-Key must have ${min} to ${max} printable ASCII characters`,
    );
  const digest = createHash('sha256').update(text).digest('hex');
  return { key, digest, ...(keptMs !== undefined && { keptMs }) };
}

/** Errors: those of creating a session with a key. */
async function sessionOf(
  wanted: Wanted,
  agent: RunnableAgent,
  call: PlacedCall,
  parts: CallPlacingParts,
): Promise<RunningSession> {
  const { agent_id: _agent, version_number: _version, from: _from, to: _to, ...more } = wanted;
  const { max_ring_seconds: _ring, voicemail: _voicemail, ...rest } = more;
  const { maxRingSeconds } = call;
  const leg = { callerNumber: call.to, dialedNumber: call.from, direction: 'outbound' } as const;
  // Long enough that the call ends before its session does.
  const joinMs = maxRingSeconds * 1000 + 2 * LIMITS.phone.reportMs;
  const origin = { source: 'phone', leg, joinMs } as const;
  return makeSession(agent, rest, origin, parts);
}

async function begin(
  wanted: Wanted,
  agent: RunnableAgent,
  call: PlacedCall,
  parts: CallPlacingParts,
): Promise<PlacedCall> {
  try {
    const { record, plan } = await sessionOf(wanted, agent, call, parts);
    const urls = plan.config.webhooks.post_call.map(({ url }) => url);
    // Nobody listens for machines on SIP.
    const ofAgent = call.provider === 'sip' ? null : (plan.voicemail ?? null);
    return await parts.placed.begin(call.id, record.id, urls, call.voicemail ?? ofAgent);
  } catch (error) {
    await parts.placed.drop(call.id);
    throw error;
  }
}

/** What is asked of the provider, in the order of the checks. Errors: those of the functions above. */
async function askedOf(
  wanted: Wanted,
  { fields }: CallForm,
  parts: CallPlacingParts,
  workspaceId: string,
): Promise<{ readonly agent: RunnableAgent; readonly asked: NewPlacedCall }> {
  const number = await numberNamed(wanted.from, parts, workspaceId, fields);
  const agent = await agentOf(wanted, parts, workspaceId);
  checkNumber(number, parts);
  const to = await destinationOf(wanted.to, parts, workspaceId, fields);
  const { agent_id: agentId, max_ring_seconds: seconds } = wanted;
  const maxRingSeconds = seconds ?? LIMITS.phone.ring.default;
  return {
    agent,
    asked: { number, to, agentId, maxRingSeconds, voicemail: voicemailOf(wanted, agent, number) },
  };
}

/**
 * The call, and whether an earlier request placed it. Errors: those of creating a session with a key, and those above, with reasons;
 * `rate_limited` beyond what the workspace may place.
 */
export async function placeCall(
  request: HttpRequest,
  form: CallForm,
  parts: CallPlacingParts,
  { workspaceId }: Caller,
) {
  const body = await readJsonBody(request);
  const wanted = form.read(body);
  const idempotency = idempotencyOf(request, body, form);
  // Before all other checks: what has changed since does not undo the call.
  const earlier = idempotency && (await parts.placed.repeated(workspaceId, idempotency));
  if (earlier) return { call: earlier, known: true };
  await parts.placed.attempt(workspaceId);
  const { agent, asked } = await askedOf(wanted, form, parts, workspaceId);
  const { call, known } = await parts.placed.claim({ ...asked, ...(idempotency && { idempotency }) });
  if (known) return { call, known };
  const begun = await begin(wanted, agent, call, parts);
  parts.dialling.place(begun, request.baseUrl);
  return { call: begun, known };
}
