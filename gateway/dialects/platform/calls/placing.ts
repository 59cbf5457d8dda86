/**
 * Placing a call (docs/contract/platform.md 6.14): checks the number and the idempotency key, and creates the session that
 * waits for the answer. A repeated request with the same key gets the call that the first one made.
 */
import { createHash } from 'node:crypto';
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import {
  type ShortNumbers,
  type Voicemail,
  WRITTEN_ADDRESS,
  writtenAddress,
} from '../../../../contracts/phone/phone.js';
import type { RunnableAgent } from '../../../../contracts/ports/agents/agents.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { PhoneNumber, PhoneNumbers } from '../../../../contracts/ports/phone/phone.js';
import type {
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
import { type MakingParts, makeSession } from '../sessions/making.js';
import { reader, type WithRawMetadata } from '../sessions/request.js';
import { CallRequest } from './schema.js';

export interface CallPlacingParts extends MakingParts {
  readonly numbers: PhoneNumbers;
  readonly placed: PlacedCalls;
  readonly dialling: PhoneDialling;
  /** Short numbers that may be called. */
  readonly shortNumbers: ShortNumbers;
}

type Wanted = WithRawMetadata<CallRequest>;

const readRequest = reader(CallRequest) as (body: JsonBody) => Wanted;

const conflict = (message: string): ServiceError => new ServiceError('conflict', { message });

/** Errors: `validation_failed`. */
function addressOf(to: string, { shortNumbers }: CallPlacingParts): string {
  const address = writtenAddress(to, shortNumbers);
  if (address !== undefined) return address;
  throw invalid([problem(['to'], `to ${WRITTEN_ADDRESS}`)]);
}

/** Errors: `validation_failed`, `conflict`. */
async function numberOf(
  from: string,
  { numbers }: CallPlacingParts,
  workspaceId: string,
): Promise<PhoneNumber> {
  const [number, another] = await numbers.named(from, workspaceId);
  if (!number) throw invalid([problem(['from'], 'from is no phone number of this workspace')]);
  if (another) throw invalid([problem(['from'], 'from is at several providers: use its phone_number_id')]);
  if (!number.enabled) throw conflict('The phone number is not enabled');
  if (!number.placesCalls) throw conflict('The phone number has no credentials to place calls with');
  return number;
}

/** The language with its most likely region, which providers require. */
function localeOf(language: string): string {
  const { language: name, region = '' } = new Intl.Locale(language).maximize();
  return region === '' ? name : `${name}-${region}`;
}

/** Errors: `validation_failed` for a message without its action, leaving a message without one, or a call over SIP. */
function voicemailOf(
  { voicemail, overrides }: Wanted,
  agent: RunnableAgent | undefined,
  { provider }: PhoneNumber,
): Voicemail | null {
  if (!voicemail) return null;
  if (provider === 'sip')
    throw invalid([problem(['voicemail'], 'voicemail cannot be had: nobody listens for machines on SIP')]);
  const { action, message } = voicemail;
  if ((action === 'leave_message') !== (typeof message === 'string'))
    throw invalid([
      problem(['voicemail', 'message'], 'voicemail.message goes with leave_message, and only with it'),
    ]);
  if (typeof message !== 'string') return { action };
  const language = overrides?.language ?? agent?.version?.config.voice.speaking_language ?? 'en';
  return { action, message, language: localeOf(language) };
}

/** The agent with the requested version. */
const agentOf = (
  { agent_id: id, version_number: version }: Wanted,
  { agents }: CallPlacingParts,
  workspaceId: string,
) => (version ? agents.version(id, workspaceId, version) : agents.find(id, workspaceId));

/** The idempotency key and the body's digest; undefined without a key. Errors: `invalid_request`. */
function idempotencyOf({ headers }: HttpRequest, { text }: JsonBody) {
  const key = headers.get('idempotency-key');
  if (key === undefined) return undefined;
  const { min, max } = LIMITS.phone.idempotencyKey;
  if (key.length < min || key.length > max || !/^[\x20-\x7e]*$/.test(key))
    throw badQuery(
      'idempotency-key',
      `Idempotency-Key must have ${min} to ${max} printable ASCII characters`,
    );
  return { key, digest: createHash('sha256').update(text).digest('hex') };
}

/** Errors: those of creating a session with a key. */
async function sessionOf(
  wanted: Wanted,
  agent: RunnableAgent | undefined,
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
  return makeSession(found(agent, 'Agent'), rest, origin, parts);
}

async function begin(
  wanted: Wanted,
  agent: RunnableAgent | undefined,
  call: PlacedCall,
  parts: CallPlacingParts,
): Promise<PlacedCall> {
  try {
    const { record, plan } = await sessionOf(wanted, agent, call, parts);
    const urls = plan.config.webhooks.post_call.map(({ url }) => url);
    return await parts.placed.begin(call.id, record.id, urls);
  } catch (error) {
    await parts.placed.drop(call.id);
    throw error;
  }
}

/** The call, and whether an earlier request placed it. Errors: those of creating a session with a key, and those above. */
export async function placeCall(request: HttpRequest, parts: CallPlacingParts, { workspaceId }: Caller) {
  const body = await readJsonBody(request);
  const wanted = readRequest(body);
  const idempotency = idempotencyOf(request, body);
  // Before all other checks: what has changed since does not undo the call.
  const earlier = idempotency && (await parts.placed.repeated(workspaceId, idempotency));
  if (earlier) return { call: earlier, known: true };
  const to = addressOf(wanted.to, parts);
  const number = await numberOf(wanted.from, parts, workspaceId);
  parts.dialling.check(number);
  const { agent_id: agentId, max_ring_seconds: seconds } = wanted;
  const maxRingSeconds = seconds ?? LIMITS.phone.ring.default;
  const agent = await agentOf(wanted, parts, workspaceId);
  const voicemail = voicemailOf(wanted, agent, number);
  const asked = { number, to, agentId, maxRingSeconds, voicemail, ...(idempotency && { idempotency }) };
  const { call, known } = await parts.placed.claim(asked);
  if (known) return { call, known };
  const begun = await begin(wanted, agent, call, parts);
  parts.dialling.place(begun, request.baseUrl);
  return { call: begun, known };
}
