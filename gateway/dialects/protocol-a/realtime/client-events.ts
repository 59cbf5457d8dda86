/**
 * Frames of a realtime client (protocol-a.md section 5.3): JSON objects with a `type`, bounded before they are
 * looked into. Appends, which are most of them, need no parser.
 */
import { LIMITS } from '../../../../contracts/limits.js';
import { boundJson } from '../../../server/structure.js';
import { Fault } from './faults.js';

export type Fields = Readonly<Record<string, unknown>>;

export interface ClientEvent {
  readonly type: string;
  /** As the client named it, for errors that it causes. */
  readonly eventId: string | null;
  readonly fields: Fields;
}

export const APPEND = 'input_audio_buffer.append';

/** As JSON.stringify of JavaScript and of Python write it. */
const APPENDS: readonly string[] = [`{"type":"${APPEND}","audio":"`, `{"type": "${APPEND}", "audio": "`];
const END = '"}';

/**
 * The base64 of an append that is written as clients write it; undefined for any other frame. Not checked: where
 * there is more in the event, it is no base64.
 */
export function appendedAudio(frame: string): string | undefined {
  const head = APPENDS.find((start) => frame.startsWith(start));
  return head !== undefined && frame.endsWith(END) ? frame.slice(head.length, -END.length) : undefined;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(text: string): unknown {
  try {
    boundJson(Buffer.from(text));
    return JSON.parse(text) as unknown;
  } catch {
    throw new Fault('invalid_event', 'The frame is not valid JSON, or has too many parts');
  }
}

function eventIdOf({ event_id: id }: Fields): string | null {
  return typeof id === 'string' && id.length <= LIMITS.realtime.eventIdLength ? id : null;
}

/** Errors: `Fault`. */
export function readClientEvent(frame: string | Uint8Array): ClientEvent {
  const text = typeof frame === 'string' ? frame : Buffer.from(frame).toString();
  const fields = parse(text);
  if (!isFields(fields)) throw new Fault('invalid_event', 'An event is a JSON object');
  const { type } = fields;
  if (typeof type !== 'string') throw new Fault('invalid_event', 'type must be of type string', 'type');
  return { type, eventId: eventIdOf(fields), fields };
}

/** Errors: `Fault`. */
export function textField(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new Fault(
    'invalid_event',
    value === undefined ? `missing field ${name}` : `${name} must be of type string`,
    name,
  );
}
