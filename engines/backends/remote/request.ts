/**
 * Requests to one address of a remote service, the operator's own. Nothing is retried; what the service
 * refuses keeps its status; a body that breaks off fails its reader; an abort ends the request.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { TraceContext } from '../../../contracts/ports/trace.js';

export interface RemoteAddress {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key?: string | undefined;
}

export interface RemoteRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | FormData;
  readonly traceContext?: TraceContext | undefined;
}

/** Statuses by which a service refuses the request as such: its message is passed on to the client. */
const TELLING = new Set([400, 413, 415, 422]);
const MESSAGE_LENGTH = 300;
const ERROR_BYTES = 64 * 1024;
const RETRY_SECONDS = 3600;
/** `Retry-After` for an overloaded service that names no time. */
const RETRY_DEFAULT_SECONDS = 1;
const TOO_MANY_REQUESTS = 429;

const broken = (cause: unknown): ServiceError => new ServiceError('provider_failed', { cause });

/** The whole body of a reply. Errors: `provider_failed` where it is longer than `most` bytes or breaks off. */
export async function bytesOfReply(response: Response, most: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      length += part.length;
      if (length > most) throw new RangeError('the reply is too long');
      parts.push(part);
    }
  } catch (error) {
    throw broken(error);
  }
  return Buffer.concat(parts);
}

interface ErrorBody {
  readonly message?: unknown;
  readonly error?: { readonly message?: unknown } | null;
  readonly detail?: unknown;
}

/** The sentence in an error's body, of whichever API. */
function sentenceIn(body: Buffer): string | undefined {
  try {
    const { message, error, detail } = JSON.parse(body.toString()) as ErrorBody;
    const found = [error?.message, message, detail].find((value) => typeof value === 'string');
    return found as string | undefined;
  } catch {
    return undefined;
  }
}

/** Seconds, where they are known or must be told. */
function retryAfterOf({ status, headers }: Response): number | undefined {
  const said = Number(headers.get('retry-after') ?? Number.NaN);
  if (said > 0 && said <= RETRY_SECONDS) return said;
  return status === TOO_MANY_REQUESTS ? RETRY_DEFAULT_SECONDS : undefined;
}

async function refusalOf(response: Response): Promise<ServiceError> {
  const body = await bytesOfReply(response, ERROR_BYTES).catch(() => Buffer.alloc(0));
  const said = TELLING.has(response.status) ? sentenceIn(body)?.slice(0, MESSAGE_LENGTH) : undefined;
  const retryAfter = retryAfterOf(response);
  return new ServiceError('provider_failed', {
    // A redirect is not followed: the key is for this address.
    status: response.status >= 400 ? response.status : 502,
    message: said ?? `The speech provider answered ${response.status}`,
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

/**
 * The reply of a service that takes the request. Errors: `provider_failed` with the service's status, 502 without
 * one.
 */
export async function ask(
  { url, key }: RemoteAddress,
  request: RemoteRequest,
  signal: AbortSignal,
): Promise<Response> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const headers = {
    ...authorization,
    ...request.traceContext,
    ...request.headers,
  };
  const init = { method: 'POST', headers, signal, redirect: 'manual' } as const;
  let response: Response;
  try {
    response = await fetch(url + request.path, { ...init, body: request.body as string | FormData });
  } catch (error) {
    signal.throwIfAborted();
    throw broken(error);
  }
  if (response.ok) return response;
  throw await refusalOf(response);
}

/** The body as it comes. Errors: `provider_failed` where it breaks off. */
export async function* partsOf(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) yield part;
  } catch (error) {
    signal.throwIfAborted();
    throw broken(error);
  }
}
