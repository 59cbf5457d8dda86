/**
 * Frames that clients send on the realtime socket (docs/contract/protocol-b.md 5): JSON text with a `message_type`. An
 * invalid frame is reported to the client and the session continues, unless the frame exceeds the size limit.
 */
import type { SessionFault } from '../../../../actors/transcription-session.js';
import { withoutByteOrderMark } from '../../../../contracts/text/byte-order-mark.js';
import { plainText } from '../../../../contracts/text/text.js';
import { booleanOf, isUnset } from '../../../../contracts/schemas/coerce.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { isPlainObject, type PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { parseJson } from '../../../server/bodies/body.js';
import type { SocketFrame, LongText } from '../../../server/frames/frame-queue.js';
import { DecodedBase64, parseLongText } from '../../../server/frames/long-json.js';
import { FRAME_TOO_LARGE, inputFault } from './errors.js';

export interface TranscriptionClientFrame {
  /** Base64, not validated yet, or decoded if it was long; empty if the frame has no audio. */
  readonly audio: string | DecodedBase64;
  readonly commit: boolean;
  readonly hasPreviousText: boolean;
}

/** Error for a frame that was refused. */
export class TranscriptionFrameFault extends Error {
  constructor(readonly fault: SessionFault) {
    super(fault.message);
  }
}

const refuse = (message: string): never => {
  throw new TranscriptionFrameFault(inputFault(message));
};

/** Frames that are larger, or hold lists or objects, are checked for depth and number of values before they are parsed. */
const SIMPLE_CHARACTERS = 64 * 1024;

/** Whether it is small, and one object of plain values at most, as the frames of clients are. */
const isSimple = (text: string): boolean =>
  text.length <= SIMPLE_CHARACTERS && !text.includes('[') && text.indexOf('{') === text.lastIndexOf('{');

/** Errors: `TranscriptionFrameFault` if the text exceeds the limit, others if it is not valid JSON. */
function jsonOf(text: string): unknown {
  if (isSimple(text)) return JSON.parse(withoutByteOrderMark(text));
  const bytes = Buffer.from(text);
  if (bytes.length > LIMITS.socket.frameBytes) throw new TranscriptionFrameFault(FRAME_TOO_LARGE);
  return parseJson(bytes);
}

function unreadable(error: unknown): never {
  if (error instanceof TranscriptionFrameFault) throw error;
  return refuse('The frame is not valid JSON');
}

function parse(data: string): unknown {
  try {
    return jsonOf(data);
  } catch (error) {
    return unreadable(error);
  }
}

/** In turns of the event loop. */
async function parseLong(frame: LongText): Promise<unknown> {
  if (frame.length > LIMITS.socket.frameBytes) throw new TranscriptionFrameFault(FRAME_TOO_LARGE);
  return parseLongText(frame, 'audio_base_64').catch(unreadable);
}

function audioOf({ audio_base_64: text }: PlainObject): string | DecodedBase64 {
  if (text === undefined || text === null) return '';
  return text instanceof DecodedBase64 || typeof text === 'string'
    ? text
    : refuse('audio_base_64 must be a string');
}

function checkRate({ sample_rate: rate }: PlainObject, expected: number): void {
  if (!isUnset(rate) && Number(plainText(rate)) !== expected)
    refuse(`sample_rate must be ${expected}, as audio_format says`);
}

/** `sampleRate`: the session's, in Hz. */
function chunkOf(fields: PlainObject, sampleRate: number): TranscriptionClientFrame {
  checkRate(fields, sampleRate);
  const commit = booleanOf(fields['commit']) ?? refuse('commit must be a boolean');
  return { audio: audioOf(fields), commit, hasPreviousText: !isUnset(fields['previous_text']) };
}

const FRAMES = new Map<unknown, (fields: PlainObject, sampleRate: number) => TranscriptionClientFrame>([
  ['input_audio_chunk', chunkOf],
  ['commit', () => ({ audio: '', commit: true, hasPreviousText: false })],
]);

const NAMES = [...FRAMES.keys()].join(', ');

/** Errors: `TranscriptionFrameFault`. */
export function readFrame(
  frame: SocketFrame,
  sampleRate: number,
): TranscriptionClientFrame | Promise<TranscriptionClientFrame> {
  if (frame instanceof Uint8Array) return refuse('Frames must be text');
  if (typeof frame === 'string') return frameOf(parse(frame), sampleRate);
  return parseLong(frame).then((value) => frameOf(value, sampleRate));
}

function frameOf(value: unknown, sampleRate: number): TranscriptionClientFrame {
  const fields = isPlainObject(value) ? value : refuse('The frame is no object');
  const read = FRAMES.get(fields['message_type']) ?? refuse(`message_type must be one of ${NAMES}`);
  return read(fields, sampleRate);
}
