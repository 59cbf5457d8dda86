/**
 * The head of every reply: the handler's own headers without those that frame the message, X-Generation-Id
 * (rule 15), CORS, and whether the connection ends with it. A header that could split the reply
 * never leaves: it is an error of ours.
 */
import type { ServiceError } from '../../contracts/errors.js';
import type { ReplyHead } from './adapter.js';
import { corsHeaders } from './cors.js';
import type { RequestHead } from './guard.js';
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

export interface ReplyManner {
  readonly close: boolean;
  /** Whether pages of other origins may read it; true unless told. */
  readonly crossOrigin?: boolean;
  readonly requestIdHeader: string | undefined;
}

const idHeaders = (generationId: string, requestIdHeader: string | undefined): ReplyHead['headers'] => [
  [GENERATION_ID, generationId],
  ...(requestIdHeader === undefined ? [] : [[requestIdHeader, generationId] as const]),
];

/** Throws where a header could not be sent as it is. */
export function replyHead(
  reply: Reply,
  request: Pick<HttpRequest, 'generationId' | 'headers'>,
  { close, crossOrigin = true, requestIdHeader }: ReplyManner,
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

/** Headers that errors have in every API. `usualSeconds`: the `Retry-After` of those that know none of their own. */
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
 * A chunked request is the last on its connection: the native parser is lax about chunk ends, and what a
 * proxy in front might take for more of the body must not be served as the next request. So is one that is refused, and one
 * of HTTP/1.0, whose client may read until the connection ends.
 */
export const closesConnection = (head: RequestHead): boolean =>
  head.chunked ||
  head.refusal !== undefined ||
  head.version === '1.0' ||
  /\bclose\b/i.test(head.headers.get('connection') ?? '');
