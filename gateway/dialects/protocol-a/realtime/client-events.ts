/**
 * Frames of a realtime client (docs/contract/protocol-a.md 5.3): JSON objects with a `type`, bounded in depth and
 * number of values before they are parsed. Most frames are appends, which need no parser.
 */
import { type SocketFrame, LongText } from '../../../server/frames/frame-queue.js';
import { parseLongText } from '../../../server/frames/long-json.js';
import { withoutByteOrderMark } from '../../../../contracts/text/byte-order-mark.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { isPlainObject, type PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { AT_ONCE_BYTES, boundJson } from '../../../server/bodies/structure.js';
import { Fault } from './faults.js';

export interface RealtimeClientEvent {
  readonly type: string;
  /** The client's own id of the event, for errors that it causes. */
  readonly eventId: string | null;
  readonly fields: PlainObject;
}

export const APPEND = 'input_audio_buffer.append';

/** How an append begins if written by JavaScript's JSON.stringify, and by Python's json.dumps. */
const APPENDS: readonly string[] = [`{"type":"${APPEND}","audio":"`, `{"type": "${APPEND}", "audio": "`];
const END = '"}';
/** Member whose long strings are base64. */
const BASE64 = 'audio';

/** The base64, not validated, of an append in the usual spelling and without further fields; undefined for any other frame. */
export function appendedAudio(frame: string): string | undefined {
  const head = APPENDS.find((start) => frame.startsWith(start));
  if (head === undefined || !frame.endsWith(END)) return undefined;
  const audio = frame.slice(head.length, -END.length);
  return audio.includes('"') ? undefined : audio;
}

const unreadable = (): Fault =>
  new Fault('invalid_event', 'The frame is not valid JSON, or has too many parts');

function parse(text: string): unknown {
  try {
    boundJson(Buffer.from(text));
    return JSON.parse(withoutByteOrderMark(text)) as unknown;
  } catch {
    throw unreadable();
  }
}

/** The client's id of its event; null if it has none, or too long a one. */
export function eventIdOf({ event_id: id }: PlainObject): string | null {
  return typeof id === 'string' && id.length <= LIMITS.realtime.eventIdLength ? id : null;
}

function fieldsOf(value: unknown): PlainObject {
  if (isPlainObject(value)) return value;
  throw new Fault('invalid_event', 'An event is a JSON object');
}

async function readLong(frame: LongText): Promise<PlainObject> {
  const value = await parseLongText(frame, BASE64).catch(() => {
    throw unreadable();
  });
  return fieldsOf(value);
}

/**
 * The fields of a frame, which need not be a valid event; of a long one in turns of the event loop, with its audio decoded
 * (`DecodedBase64`). Errors: `Fault`.
 */
export function readFields(frame: SocketFrame): PlainObject | Promise<PlainObject> {
  if (frame instanceof Uint8Array)
    return frame.length > AT_ONCE_BYTES
      ? readLong(new LongText(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)))
      : fieldsOf(parse(Buffer.from(frame).toString()));
  return typeof frame === 'string' ? fieldsOf(parse(frame)) : readLong(frame);
}

/** Errors: `Fault`. */
export const clientEvent = (fields: PlainObject): RealtimeClientEvent => ({
  type: textField(fields, 'type'),
  eventId: eventIdOf(fields),
  fields,
});

/** Errors: `Fault`. */
export function textField(fields: PlainObject, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new Fault(
    'invalid_event',
    value === undefined ? `missing field ${name}` : `${name} must be of type string`,
    name,
  );
}
