/**
 * Requests to one address of a remote service that the operator chose. Nothing is retried; a refusal of the service
 * keeps its status; a body that breaks off fails its reader; an abort ends the request.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import { wellFormed } from '../../../contracts/text/text.js';
import type { TraceContext } from '../../../contracts/ports/trace.js';

/** How services are shown a key. */
const KEY_HEADERS = {
  bearer: (key: string) => ({ authorization: `Bearer ${key}` }),
  token: (key: string) => ({ authorization: `Token ${key}` }),
  'xi-api-key': (key: string) => ({ 'xi-api-key': key }),
} as const;

export interface RemoteAddress {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key?: string | undefined;
  /** Default: `bearer`. */
  readonly keyAs?: keyof typeof KEY_HEADERS | undefined;
  /** The setting that holds the key, for the operator's log. */
  readonly keySetting?: string | undefined;
  /** What it is, in sentences for clients; default: `speech provider`. */
  readonly noun?: string | undefined;
  /** Longest wait for the body of a refusal, in milliseconds; default: LIMITS.remote.stallMs. */
  readonly stallMs?: number | undefined;
  /** Its connections; default: those of all of the operator's services. */
  readonly connections?: (() => Promise<Agent>) | undefined;
}

export interface RemoteRequest {
  /** Default: POST. */
  readonly method?: 'GET';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly traceContext?: TraceContext | undefined;
  /** Names refusals that the caller treats apart, by their body; undefined for all others. */
  readonly refusal?: (body: unknown) => ServiceError | undefined;
}

/** A refusal, whatever client has got it. */
export interface RemoteRefusal {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** A reply that has begun: its reader must read the body to its end, or destroy it. */
export type RemoteReply = Awaited<ReturnType<Agent['request']>>;

let loaded: Promise<Agent> | undefined;

/**
 * Not `fetch`: its web streams and headers cost more than the request itself. Loaded with the first request, because a
 * gateway may never make one. The caller limits the time with its signal.
 */
const connections = (): Promise<Agent> =>
  (loaded ??= import('undici').then(
    ({ default: { Agent } }) => new Agent({ headersTimeout: 0, bodyTimeout: 0 }),
  ));

const ALWAYS = { accept: '*/*', 'user-agent': 'speech-gateway' };

/** Statuses that refuse the request itself: the service's message is passed on to the client. */
const TELLING = new Set([400, 413, 415, 422]);
/** Statuses that refuse the operator's key: nothing that the client could mend. */
const OF_THE_KEY = new Set([401, 403, 407]);
const MESSAGE_LENGTH = 300;
const ERROR_BYTES = 64 * 1024;
const RETRY_SECONDS = 3600;
/** `Retry-After` for an overloaded service that gives none. */
const RETRY_DEFAULT_SECONDS = 1;
const TOO_MANY_REQUESTS = 429;

const nounOf = ({ noun = 'speech provider' }: Pick<RemoteAddress, 'noun'>): string => `The ${noun}`;

export const broken = (cause: unknown, address: Pick<RemoteAddress, 'noun'> = {}): ServiceError =>
  new ServiceError('provider_failed', { message: `${nounOf(address)} failed`, cause });

/**
 * The whole body of a reply, by its events: a loop over it takes more processor time than everything else here. Errors: `provider_failed` if
 * it is longer than `most` bytes or breaks off.
 */
export const bytesOfReply = ({ body }: Pick<RemoteRefusal, 'body'>, most: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let length = 0;
    const brokenOff = (): void => reject(broken(body.errored ?? new Error('the reply broke off')));
    if (body.destroyed) return brokenOff();
    body.on('data', (part: Uint8Array) => {
      length += part.length;
      parts.push(part);
      if (length > most) body.destroy(new RangeError('the reply is too long'));
    });
    body.on('end', () => resolve(Buffer.concat(parts, length)));
    // Its end tells what is wrong.
    body.on('error', () => undefined);
    body.on('close', brokenOff);
  });

interface ErrorBody {
  readonly message?: unknown;
  readonly err_msg?: unknown;
  readonly error?: string | { readonly message?: unknown } | null;
  readonly detail?: unknown;
}

/** The body of a refusal; empty if it breaks off, or has not come within `ms`: the status says enough. */
async function refusalBody(reply: RemoteRefusal, ms: number): Promise<Buffer> {
  const late = setTimeout(() => discard(reply), ms);
  try {
    return await bytesOfReply(reply, ERROR_BYTES);
  } catch {
    return Buffer.alloc(0);
  } finally {
    clearTimeout(late);
  }
}

const isSentence = (value: unknown): value is string => typeof value === 'string' && /\S/u.test(value);

/** The first fault in the list with which services built on FastAPI refuse a field: its place and what is wrong. */
function faultIn(detail: unknown): string | undefined {
  const [first] = Array.isArray(detail) ? (detail as unknown[]) : [];
  const { loc, msg } = (first ?? {}) as { readonly loc?: unknown; readonly msg?: unknown };
  if (typeof msg !== 'string') return undefined;
  const place = Array.isArray(loc) ? loc.filter((step) => ['string', 'number'].includes(typeof step)) : [];
  return place.length > 0 ? `${place.join('.')}: ${msg}` : msg;
}

/** Undefined if it is no JSON. */
function parsed(body: Buffer): ErrorBody | undefined {
  try {
    return JSON.parse(body.toString()) as ErrorBody;
  } catch {
    return undefined;
  }
}

/** The message in an error body of any of the APIs, so much of it as clients are told. */
export function sentenceIn(body: ErrorBody | undefined): string | undefined {
  const { message, err_msg: said, error, detail } = body ?? {};
  const named = typeof error === 'string' ? error : error?.message;
  const detailed = isPlainObject(detail) ? detail['message'] : faultIn(detail);
  const sentence = [named, message, said, detail, detailed].find(isSentence);
  return sentence && wellFormed(sentence.slice(0, MESSAGE_LENGTH));
}

/** Seconds of `Retry-After`; undefined if the service gave none and is not overloaded. */
function retryAfterOf({
  statusCode,
  headers,
}: Pick<RemoteRefusal, 'statusCode' | 'headers'>): number | undefined {
  const said = Number(headers['retry-after'] ?? Number.NaN);
  if (said > 0 && said <= RETRY_SECONDS) return said;
  return statusCode === TOO_MANY_REQUESTS ? RETRY_DEFAULT_SECONDS : undefined;
}

/** For the log: which key was refused, and where. */
const keyRefused = ({ url, keySetting = 'its API key' }: RemoteAddress, status: number): Error =>
  new Error(
    `The service at ${new URL(url).origin} answered ${status}: it refuses the key; see ${keySetting}`,
  );

/** A client learns only that the provider failed if the operator's key is the cause. */
function unauthorized(address: RemoteAddress, status: number): ServiceError {
  const message = `${nounOf(address)} does not accept this gateway`;
  return new ServiceError('provider_failed', {
    message,
    answered: status,
    cause: keyRefused(address, status),
  });
}

interface Said {
  /** What the service itself said. */
  readonly said?: string | undefined;
  readonly retryAfter?: number | undefined;
}

/** The error for a service that refuses with a status. */
export function refused(
  address: RemoteAddress,
  status: number,
  { said, retryAfter }: Said = {},
): ServiceError {
  if (OF_THE_KEY.has(status)) return unauthorized(address, status);
  return new ServiceError('provider_failed', {
    // A redirect is not followed, because the key is for this address.
    status: status >= 400 ? status : 502,
    answered: status,
    message: (TELLING.has(status) ? said : undefined) ?? `${nounOf(address)} answered ${status}`,
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

export async function refusalOf(
  reply: RemoteRefusal,
  address: RemoteAddress,
  { refusal }: Pick<RemoteRequest, 'refusal'>,
): Promise<ServiceError> {
  const body = parsed(await refusalBody(reply, address.stallMs ?? LIMITS.remote.stallMs));
  const said = sentenceIn(body);
  return refusal?.(body) ?? refused(address, reply.statusCode, { said, retryAfter: retryAfterOf(reply) });
}

/** The path below the address, whose query stays behind it (Azure's `?api-version=…`). */
export function endpoint(url: string, below: string): { readonly origin: string; readonly path: string } {
  const { origin, pathname, search } = new URL(url);
  const path = `${pathname.replace(/\/+$/, '')}${below}`;
  return {
    origin,
    path: search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search.slice(1)}`,
  };
}

export const headersFor = (
  { key, keyAs = 'bearer' }: RemoteAddress,
  { traceContext, headers }: Pick<RemoteRequest, 'traceContext' | 'headers'>,
): Readonly<Record<string, string>> => ({
  ...ALWAYS,
  ...(key !== undefined && KEY_HEADERS[keyAs](key)),
  ...traceContext,
  ...headers,
});

/**
 * The reply of a service that accepts the request. Errors: `provider_failed` with the service's status; 502 without one, and
 * if the service refuses the key.
 */
export async function ask(
  address: RemoteAddress,
  request: RemoteRequest,
  signal: AbortSignal,
): Promise<RemoteReply> {
  const headers = headersFor(address, request);
  const { origin, path } = endpoint(address.url, request.path);
  const agent = await (address.connections ?? connections)();
  let reply: RemoteReply;
  try {
    const { method = 'POST', body = null } = request;
    reply = await agent.request({ origin, path, method, headers, signal, body });
  } catch (error) {
    signal.throwIfAborted();
    throw broken(error, address);
  }
  if (reply.statusCode >= 200 && reply.statusCode < 300) return reply;
  throw await refusalOf(reply, address, request);
}

/** The parts of the body as they arrive. Errors: `provider_failed` if it breaks off. */
export async function* partsOf({ body }: RemoteReply, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of body as AsyncIterable<Uint8Array>) yield part;
  } catch (error) {
    signal.throwIfAborted();
    throw broken(error);
  }
}

/** The value of a header; empty if there is none. */
export const headerOf = ({ headers }: RemoteReply, name: string): string => String(headers[name] ?? '');

/** Ends a reply without reading its body. */
export const discard = ({ body }: Pick<RemoteRefusal, 'body'>): void =>
  void body.on('error', () => undefined).destroy();
