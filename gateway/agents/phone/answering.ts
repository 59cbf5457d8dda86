/**
 * Incoming calls: a provider asks who answers, and is told to open a media stream to a session made for the call, or to
 * reject it.
 *
 * Invariants: a webhook has no effect unless it is signed with a number's secret, and never reveals whether a number is
 * known here; a call is answered once; a caller whom nobody can answer is rejected, and hears no error message.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError, toServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import { callerAddress } from '../../../contracts/phone/phone.js';
import type { DialledNumbers, PhoneNumber, PhoneSessions } from '../../../contracts/ports/phone/phone.js';
import { readAll } from '../../server/bodies/body.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import { numberOf } from './claims.js';
import type { PhoneCalls } from './phone-calls.js';
import type { IncomingCall, Provider, Webhook } from './provider.js';
import type { StreamProofs, StreamTokens } from './stream-tokens.js';

export interface AnsweringParts {
  readonly numbers: DialledNumbers;
  readonly sessions: PhoneSessions;
  /** Undefined if this gateway carries no phone calls. */
  readonly calls: Pick<PhoneCalls, 'hasRoomSomewhere'> | undefined;
  readonly tokens: Pick<StreamTokens, 'issue'>;
  readonly proofs: Pick<StreamProofs, 'issue'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** Errors: `conflict` if the call was answered before. */
export async function answerOnce(
  numberId: string,
  callId: string,
  numbers: Pick<DialledNumbers, 'note'>,
): Promise<void> {
  if (!(await numbers.note(numberId, callId)))
    throw new ServiceError('conflict', { message: 'The call was answered already' });
}

/** Answers with a media stream for the session, under a token that is spent when it starts, at an address that proves the answer. */
export function accepted(
  { baseUrl }: HttpRequest,
  provider: Provider,
  { sessionId, callId }: { readonly sessionId: string; readonly callId: string },
  { tokens, proofs }: Pick<AnsweringParts, 'tokens' | 'proofs'>,
): Reply {
  const { name } = provider;
  const token = tokens.issue(sessionId, { provider: name, callId });
  const url = `${baseUrl.replace(/^http/, 'ws')}/v1/phone/${name}/${proofs.issue(name)}`;
  return provider.accept({ url, token, callId });
}

type Head = Pick<HttpRequest, 'baseUrl' | 'path' | 'search' | 'headers'>;

/** The provider's request without its body. */
const headOf = ({ baseUrl, path, search, headers }: Head): Omit<Webhook, 'body'> => ({
  url: baseUrl + path + search,
  headers,
});

/** A stream's handshake, as what a provider signs. */
export const handshakeOf = (handshake: Head): Webhook => ({ ...headOf(handshake), body: new Uint8Array() });

/** The number's token in the address of the request; empty if it is the address of all. */
const tokenOf = ({ params }: Pick<HttpRequest, 'params'>): string => params['token'] ?? '';

/** Errors: `payload_too_large`. */
export const webhookOf = async (request: HttpRequest): Promise<Webhook> => ({
  ...headOf(request),
  body: await readAll(request, LIMITS.unauthenticated.bodyBytes),
});

/** Nobody has been told to answer the number yet: it rings busy. */
const NO_AGENT = 'number_without_agent';

/** Errors: those of `PhoneSessions.begin`, `overloaded`, `conflict` if nobody answers that number. */
async function sessionFor(
  { agentId, enabled, workspaceId, address }: PhoneNumber,
  { from }: IncomingCall,
  { calls, sessions }: AnsweringParts,
): Promise<string> {
  if (!calls) throw new ServiceError('conflict', { message: 'Phone calls need the embedded transport' });
  if (!enabled) throw new ServiceError('conflict', { message: 'The number is not enabled' });
  if (agentId === null)
    throw new ServiceError('conflict', { message: 'No agent answers this number', reason: NO_AGENT });
  if (!calls.hasRoomSomewhere) throw new ServiceError('overloaded');
  const callerNumber = callerAddress(from);
  const leg = { callerNumber, dialedNumber: address, direction: 'inbound' } as const;
  return (await sessions.begin(agentId, workspaceId, leg)).id;
}

/** Refusals after which a caller may try again. */
export const isBusy = ({ status, reason }: ServiceError): boolean =>
  status === 429 || status === 503 || reason === NO_AGENT;

function rejected(
  error: ServiceError,
  number: PhoneNumber,
  provider: Provider,
  { log }: AnsweringParts,
): Reply {
  const { id: phoneNumberId, workspaceId } = number;
  const about = { provider: provider.name, phoneNumberId, workspaceId, code: error.code };
  log.warn({ ...about, reason: error.message }, 'a phone call was rejected');
  return provider.reject(isBusy(error) ? 'busy' : 'rejected');
}

/**
 * Errors: `invalid_request` for a webhook about no call, `forbidden`, `conflict` for a call that was answered already;
 * 5xx, after which providers ask again.
 */
export async function answer(
  request: HttpRequest,
  provider: Provider,
  parts: AnsweringParts,
): Promise<Reply> {
  const webhook = await webhookOf(request);
  const call = provider.incoming(webhook);
  if (!call) throw new ServiceError('invalid_request', { message: 'The webhook is about no call' });
  const number = await numberOf(call, webhook, tokenOf(request), provider, parts);
  request.authenticated();
  await answerOnce(number.id, call.callId, parts.numbers);
  try {
    const sessionId = await sessionFor(number, call, parts);
    return accepted(request, provider, { sessionId, callId: call.callId }, parts);
  } catch (error) {
    return rejected(toServiceError(error), number, provider, parts);
  }
}

/**
 * The session of a call whose stream opens without a webhook before; `handshake`: that of the stream. Errors: `forbidden`,
 * `conflict` for a call that was answered already, those of `sessionFor`.
 */
export async function admit(
  call: IncomingCall,
  handshake: HttpRequest,
  provider: Pick<Provider, 'name' | 'isSigned'>,
  parts: AnsweringParts,
): Promise<string> {
  const number = await numberOf(call, handshakeOf(handshake), tokenOf(handshake), provider, parts);
  await answerOnce(number.id, call.callId, parts.numbers);
  return sessionFor(number, call, parts);
}
