/**
 * Frames of a realtime client (docs/contract/protocol-a.md 5.3): JSON objects with a `type`, bounded in depth and
 * number of values before they are parsed. Most frames are appends, which need no parser.
 */
import type { SocketFrame } from '../../../server/frames/frame-queue.js';
import { frameFields, type FrameReading, soleText } from '../../../server/frames/json-frames.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
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

/** The base64, not validated, of an append in the usual spelling and without further fields; undefined for any other frame. */
export const appendedAudio = (frame: string): string | undefined => soleText(frame, APPENDS);

const READING: FrameReading = {
  base64: 'audio',
  unreadable: () => new Fault('invalid_event', 'The frame is not valid JSON, or has too many parts'),
  noObject: () => new Fault('invalid_event', 'An event is a JSON object'),
};

/** The client's id of its event; null if it has none, or too long a one. */
export function eventIdOf({ event_id: id }: PlainObject): string | null {
  return typeof id === 'string' && id.length <= LIMITS.realtime.eventIdLength ? id : null;
}

/**
 * The fields of a frame, which need not be a valid event; of a long one in turns of the event loop, with its audio decoded
 * (`DecodedBase64`). Errors: `Fault`.
 */
export const readFields = (frame: SocketFrame): PlainObject | Promise<PlainObject> =>
  frameFields(frame, READING);

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
