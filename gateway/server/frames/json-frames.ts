/** Frames of clients that are JSON objects, bounded in depth and number of values before they are parsed. */
import { withoutByteOrderMark } from '../../../contracts/text/byte-order-mark.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { AT_ONCE_BYTES, boundJson } from '../bodies/structure.js';
import { LongText, type SocketFrame } from './frame-queue.js';
import { parseLongText } from './long-json.js';

export interface FrameReading {
  /** Member whose long strings are base64. */
  readonly base64: string;
  /** The error of a frame that is no JSON, or has too many parts. */
  unreadable(): Error;
  /** That of one that is no object. */
  noObject(): Error;
}

const END = '"}';

/**
 * The text of a frame that is an object of one string, as it is without escapes: most frames of audio. `heads`: how such a frame may
 * begin. Undefined for any other one.
 */
export function soleText(frame: string, heads: readonly string[]): string | undefined {
  const head = heads.find((start) => frame.startsWith(start));
  if (head === undefined || !frame.endsWith(END)) return undefined;
  const text = frame.slice(head.length, -END.length);
  return text.includes('"') ? undefined : text;
}

function parse(text: string, reading: FrameReading): PlainObject {
  let value: unknown;
  try {
    boundJson(Buffer.from(text));
    value = JSON.parse(withoutByteOrderMark(text)) as unknown;
  } catch {
    throw reading.unreadable();
  }
  return objectIn(value, reading);
}

function objectIn(value: unknown, { noObject }: FrameReading): PlainObject {
  if (isPlainObject(value)) return value;
  throw noObject();
}

async function readLong(frame: LongText, reading: FrameReading): Promise<PlainObject> {
  const value = await parseLongText(frame, reading.base64).catch(() => {
    throw reading.unreadable();
  });
  return objectIn(value, reading);
}

/**
 * The fields of a frame; of a long one in turns of the event loop, with its audio decoded (`DecodedBase64`). Errors: those of the
 * reading.
 */
export function frameFields(frame: SocketFrame, reading: FrameReading): PlainObject | Promise<PlainObject> {
  if (typeof frame === 'string') return parse(frame, reading);
  if (frame instanceof LongText) return readLong(frame, reading);
  return frame.length > AT_ONCE_BYTES
    ? readLong(new LongText(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)), reading)
    : parse(Buffer.from(frame).toString(), reading);
}
