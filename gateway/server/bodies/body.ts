/** Whole bodies, read under a limit and parsed: bytes, JSON, MessagePack. Content types are checked first. */
import { decode } from '@msgpack/msgpack';
import { ServiceError } from '../../../contracts/errors.js';
import { ArrivingBytes, mostBytesOf } from './arriving-bytes.js';
import type { HttpRequest } from '../port.js';
import { type ReadLong, walkJson } from './json-walk.js';
import { walkMsgpack } from './msgpack-walk.js';
import { AT_ONCE_BYTES, boundJson, boundMsgpack, noJson } from './structure.js';

type Incoming = Pick<HttpRequest, 'headers' | 'body' | 'share'>;

const JSON_TYPES = ['application/json', 'text/json'];
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const MSGPACK_TYPES = ['application/msgpack', 'application/x-msgpack', 'application/vnd.msgpack'];

/** The media type in lower case, without parameters; empty if there is none. */
export const mediaType = (headers: HttpRequest['headers']): string =>
  (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

export const isJson = (type: string): boolean => JSON_TYPES.includes(type) || type.endsWith('+json');
export const isMsgpack = (type: string): boolean => MSGPACK_TYPES.includes(type);

/** The media type, under one name where JSON and MessagePack have several: readers are found by it. */
export function bodyType(headers: HttpRequest['headers']): string {
  const type = mediaType(headers);
  if (isJson(type)) return 'application/json';
  return isMsgpack(type) ? 'application/msgpack' : type;
}

/** Errors: `unsupported_media_type`. A request without a type is assumed to have the one that its path expects. */
export function expectMediaType(headers: HttpRequest['headers'], fits: (type: string) => boolean): void {
  const type = mediaType(headers);
  if (type === '' || fits(type)) return;
  throw new ServiceError('unsupported_media_type', { param: 'content-type' });
}

/** The bytes are charged until the request has ended. Errors: `payload_too_large`, `request_timeout`, `memory_exhausted`. */
export async function readAll(request: Incoming, limitBytes: number): Promise<Uint8Array> {
  const arriving = new ArrivingBytes(mostBytesOf(request.headers, limitBytes), request.share('body'));
  for await (const chunk of request.body(limitBytes)) arriving.add(chunk);
  return arriving.whole();
}

/** Errors: those of `readAll`, `unsupported_media_type`, `malformed_body`. */
export async function readJson(request: Incoming, limitBytes: number): Promise<unknown> {
  expectMediaType(request.headers, isJson);
  return parseLongJson(await readAll(request, limitBytes));
}

/** Errors: those of `readAll`, `unsupported_media_type`, `malformed_body`. Binary fields are views of the body. */
export async function readMsgpack(request: Incoming, limitBytes: number): Promise<unknown> {
  expectMediaType(request.headers, isMsgpack);
  return parseLongMsgpack(await readAll(request, limitBytes));
}

/** UTF-8 JSON of any value. Errors: `malformed_body`. */
export function parseJson(bytes: Uint8Array, mostNodes?: number): unknown {
  boundJson(bytes, mostNodes);
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
  } catch (cause) {
    throw noJson(cause);
  }
}

const isMarked = (bytes: Buffer): boolean =>
  bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);

/** Without a byte order mark, as the decoder does it for small ones. */
function unmarked(bytes: Uint8Array): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isMarked(buffer) ? buffer.subarray(BYTE_ORDER_MARK.length) : buffer;
}

/** The same in turns of the event loop, if it is large. `readLong`: reads strings of 64 KiB and more. Errors: `malformed_body`. */
export async function parseLongJson(
  bytes: Uint8Array,
  readLong?: ReadLong,
  mostNodes?: number,
): Promise<unknown> {
  if (bytes.length < AT_ONCE_BYTES) return parseJson(bytes, mostNodes);
  return walkJson(unmarked(bytes), readLong, mostNodes);
}

/** One MessagePack value and nothing after it. Errors: `malformed_body`. */
export function parseMsgpack(bytes: Uint8Array): unknown {
  try {
    boundMsgpack(bytes);
    return decode(bytes);
  } catch (cause) {
    throw unreadableMsgpack(cause);
  }
}

/**
 * The same in turns of the event loop, if it is large. Of a string of 256 KiB and more, no more than `mostText` characters and a piece are
 * read. Errors: `malformed_body`.
 */
export async function parseLongMsgpack(bytes: Uint8Array, mostText?: number): Promise<unknown> {
  if (bytes.length < AT_ONCE_BYTES) return parseMsgpack(bytes);
  try {
    return await walkMsgpack(bytes, mostText);
  } catch (cause) {
    throw unreadableMsgpack(cause);
  }
}

const unreadableMsgpack = (cause: unknown): ServiceError =>
  cause instanceof ServiceError
    ? cause
    : new ServiceError('malformed_body', { message: 'The request body is not valid MessagePack', cause });
