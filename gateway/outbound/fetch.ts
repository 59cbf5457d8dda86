/**
 * Requests to URLs of account owners (contracts/ports/outbound.ts). Each hop connects to addresses that were judged (pinned.ts). Redirects are judged like the first URL; headers that the owner stored are sent
 * only to the origin that they were stored for. One connection per hop, one deadline for all hops.
 */
import type { Readable } from 'node:stream';
import type { Client, Dispatcher } from 'undici';
import type { Clock } from '../../contracts/clock.js';
import {
  CONNECTION_HEADERS,
  type Outbound,
  OutboundError,
  type OutboundReply,
  type OutboundRequest,
} from '../../contracts/ports/outbound.js';
import { parseAllowed } from './allow.js';
import { decoded } from './content-encoding.js';
import { isSecure, judge, type Target } from './guard.js';
import { type Lookup, resolveHost } from './lookup.js';
import { addressesOf, connecting, type Resolving, targetOf } from './pinned.js';
import { type Hop, nextHop } from './redirects.js';

export interface OutboundParts {
  /** OUTBOUND_ALLOW. */
  readonly allow: readonly string[];
  readonly clock: Clock;
  readonly lookup?: Lookup;
}

const REDIRECTS = 3;
const HEADER_BYTES = 32 * 1024;

function checkHeaders(headers: OutboundRequest['headers']): void {
  for (const [name] of headers)
    if (CONNECTION_HEADERS.has(name.toLowerCase()))
      throw new OutboundError('refused', `The header ${name} may not be set`);
}

/** Loaded with the first request, since a gateway may never make one. Its default export: ops/setup/bundle.mjs says why. */
const undici = async () => (await import('undici')).default;

async function clientOf({ url }: Target, addresses: readonly string[]): Promise<Client> {
  const { Client } = await undici();
  return new Client(url.origin, {
    connect: connecting(addresses),
    maxHeaderSize: HEADER_BYTES,
    // Bounded by the deadline of the whole request.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

const flat = (headers: OutboundRequest['headers']): string[] => [
  ...headers.flatMap(([name, value]) => [name, value]),
  ...(headers.some(([name]) => name.toLowerCase() === 'accept-encoding')
    ? []
    : ['accept-encoding', 'identity']),
];

/** Reads at most `bytes` of the body, and only until it is `enough`; the rest is not read. */
async function capture(
  body: AsyncIterable<Buffer>,
  bytes: number,
  enough: (piece: Uint8Array) => boolean,
): Promise<Pick<OutboundReply, 'body' | 'truncated'>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, bytes - size));
    size += chunk.length;
    if (enough(chunk)) break;
    if (size > bytes) return { body: Buffer.concat(chunks), truncated: true };
  }
  return { body: Buffer.concat(chunks), truncated: false };
}

const plainHeaders = (headers: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );

type Answer = Omit<OutboundReply, 'latencyMs'>;

type Kept = Pick<OutboundRequest, 'captureBytes' | 'enough'>;

/** The answer to a request of which only the status counts: a body that never ends, or cannot be read, changes nothing. */
function unread(answer: Pick<Answer, 'status' | 'headers'>, body: Readable): Answer {
  body.on('error', () => undefined).destroy();
  return { ...answer, body: new Uint8Array(), truncated: false };
}

async function send(hop: Hop, { captureBytes, enough }: Kept, parts: Resolving): Promise<Answer> {
  const target = targetOf(hop.url, parts.allowed);
  const client = await clientOf(target, await addressesOf(target, parts));
  try {
    parts.signal.throwIfAborted();
    const {
      statusCode,
      headers: raw,
      body,
    } = await client.request({
      method: hop.method,
      path: `${target.url.pathname}${target.url.search}`,
      headers: flat(hop.headers),
      body: hop.body ?? null,
      signal: parts.signal,
      reset: true,
    });
    const headers = plainHeaders(raw);
    if (captureBytes === 0) return unread({ status: statusCode, headers }, body);
    const plain = decoded(body, headers['content-encoding']);
    const kept = await capture(plain, captureBytes, (piece) => enough?.(piece, headers) ?? false);
    return { status: statusCode, headers, ...kept };
  } finally {
    await client.destroy();
  }
}

async function follow(request: OutboundRequest, parts: Resolving): Promise<Answer> {
  const most = request.redirects ?? REDIRECTS;
  let hop: Hop = request;
  for (let followed = 0; ; followed++) {
    const answer = await send(hop, request, parts);
    const next = most === 0 ? undefined : nextHop(hop, answer);
    if (!next) return answer;
    if (followed === most) {
      throw new OutboundError('too_many_redirects', `The address redirects more than ${most} times`);
    }
    hop = next;
  }
}

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? ` (${code})` : '';
};

/** Whether undici found that the request cannot be sent at all. */
const isInvalid = (error: unknown): boolean =>
  ['UND_ERR_INVALID_ARG', 'ERR_INVALID_CHAR'].includes((error as { code?: string }).code ?? '');

function toOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  if (isInvalid(error)) return new OutboundError('refused', 'The request cannot be sent', { cause: error });
  return new OutboundError('unreachable', `The host could not be reached${codeOf(error)}`, { cause: error });
}

/** Errors: an Error that names the wrong entry of OUTBOUND_ALLOW. */
export function createOutbound({ allow, clock, lookup = resolveHost }: OutboundParts): Outbound {
  const allowed = parseAllowed(allow);
  return {
    checkUrl(url, { https } = { https: false }) {
      const verdict = judge(url, allowed);
      if ('refusal' in verdict) return verdict.refusal;
      return https && !isSecure(verdict.target, allowed) ? 'must be https' : undefined;
    },
    async fetch(request) {
      request.signal?.throwIfAborted();
      checkHeaders(request.headers);
      const started = clock.monotonic();
      const ending = new AbortController();
      const late = new OutboundError('timeout', `No response within ${request.timeoutMs / 1000} s`);
      const leave = (): void => ending.abort(request.signal?.reason);
      const cancel = clock.after(request.timeoutMs, () => ending.abort(late));
      request.signal?.addEventListener('abort', leave);
      try {
        const parts = { allowed, lookup, signal: ending.signal };
        const answer = await untilAborted(follow(request, parts), ending.signal);
        return { ...answer, latencyMs: Math.round(clock.monotonic() - started) };
      } catch (error) {
        if (ending.signal.aborted) throw ending.signal.reason;
        throw toOutboundError(error);
      } finally {
        cancel();
        request.signal?.removeEventListener('abort', leave);
      }
    },
  };
}

/** Settles as the work does, or rejects as soon as the signal is aborted, which a look-up may not notice. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    work.then(resolve, reject);
  });
}
