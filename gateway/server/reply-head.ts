/**
 * Builds the head of every reply: the handler's headers without those that frame the message, X-Generation-Id
 * (rule 15), CORS, and whether the connection ends with it. A header that could split the reply is never sent;
 * it counts as an internal error.
 */
import type { ServiceError } from '../../contracts/errors.js';
import type { ReplyHead } from './adapters/adapter.js';
import { corsHeaders } from './cors.js';
import type { RequestHead } from './adapters/guard.js';
import type { HttpRequest, Reply } from './port.js';

/** Headers that only the adapter writes. */
const FRAMING = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'date',
]);
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export const GENERATION_ID = 'X-Generation-Id';

function checked([name, value]: readonly [string, string]): readonly [string, string] {
  if (NAME.test(name) && VALUE.test(value)) return [name, value];
  throw new TypeError(`A reply's header "${name}" holds what no header may hold`);
}

export interface ReplyOptions {
  readonly close: boolean;
  /** Whether pages of other origins may read it; default true. */
  readonly crossOrigin?: boolean;
  readonly requestIdHeader: string | undefined;
}

const idHeaders = (generationId: string, requestIdHeader: string | undefined): ReplyHead['headers'] => [
  [GENERATION_ID, generationId],
  ...(requestIdHeader === undefined ? [] : [[requestIdHeader, generationId] as const]),
];

/** Throws if a header contains a character that it may not have. */
export function replyHead(
  reply: Reply,
  request: Pick<HttpRequest, 'generationId' | 'headers'>,
  { close, crossOrigin = true, requestIdHeader }: ReplyOptions,
): ReplyHead {
  const own = Object.entries(reply.headers ?? {}).filter(([name]) => !FRAMING.has(name.toLowerCase()));
  const headers = [
    ...own.map(checked),
    ...idHeaders(request.generationId, requestIdHeader),
    ...(crossOrigin ? corsHeaders(request.headers) : []),
  ];
  return { status: reply.status, headers, close };
}

/** Statuses that always have `Retry-After` (docs/contract/limits.md). */
const COME_AGAIN = new Set([429, 503]);

/** Headers that errors have in every API. `usualSeconds`: the `Retry-After` of errors that do not set one. */
export function errorHeaders(
  { status, retryAfter }: Pick<ServiceError, 'status' | 'retryAfter'>,
  usualSeconds: number,
): Record<string, string> {
  const seconds = retryAfter ?? (COME_AGAIN.has(status) ? usualSeconds : undefined);
  return {
    ...(seconds !== undefined && { 'retry-after': String(Math.ceil(seconds)) }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  };
}

/**
 * Whether the connection ends with this request. A chunked one is the last: the native parser is lax about chunk ends, and
 * bytes that a proxy in front takes for more of the body must not be served as the next request. So is one that is refused,
 * and one of HTTP/1.0, whose client may read until the connection ends.
 */
export const closesConnection = (head: RequestHead): boolean =>
  head.chunked ||
  head.refusal !== undefined ||
  head.version === '1.0' ||
  /\bclose\b/i.test(head.headers.get('connection') ?? '');
