/**
 * Bounds the structure of a document before it is parsed, since a few megabytes of brackets or empty lists cost a
 * parser gigabytes and seconds. Strings, which may be large (audio in base64), are skipped.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';

/**
 * Nodes: more than any request of the contract needs, few enough to parse within milliseconds. Escaped quotes within strings: each
 * costs a search. Bytes outside of strings: each is looked at here, and again by the parser.
 */
export const JSON_BOUNDS = {
  nodes: 100_000,
  depth: LIMITS.body.depth,
  escapes: 1_000_000,
  outside: 4 * 1024 * 1024,
};
export const MSGPACK_BOUNDS = { nodes: JSON_BOUNDS.nodes, depth: JSON_BOUNDS.depth };

/** Documents and text frames up to this size are decoded and parsed in one turn of the event loop, larger ones in several. */
export const AT_ONCE_BYTES = 256 * 1024;

export const tooLarge = (
  message = 'The request body is nested too deep or has too many parts',
): ServiceError => new ServiceError('malformed_body', { message });

const NO_JSON = 'The request body is not valid JSON';

export const noJson = (cause?: unknown): ServiceError =>
  new ServiceError('malformed_body', { message: NO_JSON, cause });

/** Whether the error says that the grammar of JSON is broken, not that there is too much of it. */
export const isNoJson = (error: unknown): boolean =>
  error instanceof ServiceError && error.message === NO_JSON;

const fail = (message?: string): never => {
  throw tooLarge(message);
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const COMMA = 0x2c;

/** The index of the quote that ends a string, and the number of escaped quotes before it. */
function endOfString(bytes: Uint8Array, start: number): { readonly end: number; readonly escapes: number } {
  for (let from = start, escapes = 0; ; escapes += 1) {
    const end = bytes.indexOf(QUOTE, from);
    if (end < 0) return { end: bytes.length, escapes };
    let before = end - 1;
    while (before >= start && bytes[before] === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return { end, escapes };
    if (escapes > JSON_BOUNDS.escapes) fail();
    from = end + 1;
  }
}

/**
 * Errors: `malformed_body` if JSON is too deep, has too many values, or too many bytes outside of its strings. Does not
 * check its grammar.
 */
export function boundJson(bytes: Uint8Array, maxNodes = JSON_BOUNDS.nodes): void {
  let nodes = 0;
  let depth = 0;
  let escapes = 0;
  for (let at = 0, outside = 0; at < bytes.length; at += 1, outside += 1) {
    const byte = bytes[at] ?? 0;
    if (outside > JSON_BOUNDS.outside) fail('The request body has too much outside of its strings');
    if (byte === QUOTE) {
      const string = endOfString(bytes, at + 1);
      at = string.end;
      escapes += string.escapes;
    } else if (OPENING.has(byte)) {
      nodes += 1;
      depth += 1;
    } else if (CLOSING.has(byte)) depth -= 1;
    else if (byte === COMMA) nodes += 1;
    if (depth > JSON_BOUNDS.depth || nodes > maxNodes || escapes > JSON_BOUNDS.escapes) fail();
  }
}

const AMPERSAND = '&';

/** Errors: `invalid_request` if a form or query has more fields than that. */
export function boundFields(text: string, mostFields: number): void {
  let fields = 1;
  for (let at = text.indexOf(AMPERSAND); at >= 0; at = text.indexOf(AMPERSAND, at + 1)) fields += 1;
  if (fields > mostFields)
    throw new ServiceError('invalid_request', { message: `More than ${mostFields} fields` });
}

interface Token {
  /** Bytes of the token with its payload. */
  readonly size: number;
  /** Number of values that follow as its content. */
  readonly children: number;
}

const scalar = (size: number): Token => ({ size, children: 0 });
const container = (size: number, children: number): Token => ({ size, children });

/** The rows 0xc0 to 0xdf of the MessagePack table, by first byte. */
const LONG_TOKENS: Readonly<Record<number, (view: DataView, at: number) => Token>> = {
  0xc0: () => scalar(1),
  0xc2: () => scalar(1),
  0xc3: () => scalar(1),
  0xc4: (view, at) => scalar(2 + view.getUint8(at + 1)),
  0xc5: (view, at) => scalar(3 + view.getUint16(at + 1)),
  0xc6: (view, at) => scalar(5 + view.getUint32(at + 1)),
  0xc7: (view, at) => scalar(3 + view.getUint8(at + 1)),
  0xc8: (view, at) => scalar(4 + view.getUint16(at + 1)),
  0xc9: (view, at) => scalar(6 + view.getUint32(at + 1)),
  0xca: () => scalar(5),
  0xcb: () => scalar(9),
  0xcc: () => scalar(2),
  0xcd: () => scalar(3),
  0xce: () => scalar(5),
  0xcf: () => scalar(9),
  0xd0: () => scalar(2),
  0xd1: () => scalar(3),
  0xd2: () => scalar(5),
  0xd3: () => scalar(9),
  0xd4: () => scalar(3),
  0xd5: () => scalar(4),
  0xd6: () => scalar(6),
  0xd7: () => scalar(10),
  0xd8: () => scalar(18),
  0xd9: (view, at) => scalar(2 + view.getUint8(at + 1)),
  0xda: (view, at) => scalar(3 + view.getUint16(at + 1)),
  0xdb: (view, at) => scalar(5 + view.getUint32(at + 1)),
  0xdc: (view, at) => container(3, view.getUint16(at + 1)),
  0xdd: (view, at) => container(5, view.getUint32(at + 1)),
  0xde: (view, at) => container(3, 2 * view.getUint16(at + 1)),
  0xdf: (view, at) => container(5, 2 * view.getUint32(at + 1)),
};

/** Errors: RangeError if the bytes end within the token. */
export function tokenAt(view: DataView, at: number): Token {
  const byte = view.getUint8(at);
  if (byte < 0x80 || byte >= 0xe0) return scalar(1);
  if (byte < 0x90) return container(1, 2 * (byte & 0x0f));
  if (byte < 0xa0) return container(1, byte & 0x0f);
  if (byte < 0xc0) return scalar(1 + (byte & 0x1f));
  return LONG_TOKENS[byte]?.(view, at) ?? fail();
}

/** Errors: `malformed_body` if MessagePack is truncated, too deep or has too many values. */
export function boundMsgpack(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const open: number[] = [1];
  let nodes = 0;
  let at = 0;
  while (open.length > 0) {
    const left = open.at(-1) ?? 0;
    if (left === 0) {
      open.pop();
      continue;
    }
    open[open.length - 1] = left - 1;
    if (at >= bytes.byteLength) throw new ServiceError('malformed_body');
    const { size, children } = tokenAt(view, at);
    at += size;
    nodes += 1 + children;
    if (children > 0) open.push(children);
    if (nodes > MSGPACK_BOUNDS.nodes || open.length > MSGPACK_BOUNDS.depth) fail();
  }
}
