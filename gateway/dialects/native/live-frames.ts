/**
 * Frames of the live sockets (docs/contract/native.md 3): each is binary and holds one MessagePack map with an
 * `event`. A frame's size is checked before it is decoded; an invalid frame is an error that says how the
 * socket closes.
 */
import { Encoder } from '@msgpack/msgpack';
import type { LiveFault } from '../../../actors/native-live.js';
import type { CloseReason } from '../../../contracts/close-codes.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SynthesisModel } from '../../../contracts/speech/models.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import type { SynthesisRequest, TimedAudio } from '../../../contracts/ports/speech/speech.js';
import { parseLongMsgpack, parseMsgpack } from '../../server/bodies/body.js';
import { AT_ONCE_BYTES } from '../../server/bodies/structure.js';
import type { SocketFrame } from '../../server/frames/frame-queue.js';
import { unknownFields } from '../../server/ignored-fields.js';
import { synthesisRequest } from './speech-params.js';
import { TtsBody } from './schema.js';
import { timesOf } from './timestamps.js';

export type LiveClientEvent =
  | { readonly type: 'start'; readonly request: SynthesisRequest }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'flush' }
  | { readonly type: 'stop' };

export interface LiveClientFrame {
  readonly event: LiveClientEvent;
  /** Names of unknown fields. */
  readonly ignored: readonly string[];
}

/** Error for a frame that ends the socket. */
export class LiveFrameFault extends Error implements LiveFault {
  constructor(
    readonly close: CloseReason,
    message: string,
  ) {
    super(message);
  }
}

/** The request may omit its text, since `text` events carry it. */
function startOf({ request }: PlainObject, model: SynthesisModel): LiveClientEvent {
  if (!isPlainObject(request)) throw new LiveFrameFault('policy', 'missing field request');
  return { type: 'start', request: synthesisRequest({ ...request, text: request['text'] ?? '' }, model) };
}

function textOf({ text }: PlainObject): LiveClientEvent {
  if (typeof text === 'string') return { type: 'text', text };
  throw new LiveFrameFault(
    'policy',
    text === undefined ? 'missing field text' : 'text must be of type string',
  );
}

const EVENTS = new Map<unknown, (fields: PlainObject, model: SynthesisModel) => LiveClientEvent>([
  ['start', startOf],
  ['text', textOf],
  ['flush', () => ({ type: 'flush' })],
  ['stop', () => ({ type: 'stop' })],
]);

/** What frames of any event may have. */
const FIELDS = { event: true, request: true, text: true };

const ignoredIn = (frame: PlainObject): readonly string[] => [
  ...unknownFields(frame, FIELDS),
  ...unknownFields(frame['request'], TtsBody.properties),
];

const NAMES = [...EVENTS.keys()].map((name) => `\`${String(name)}\``).join(', ');

const unreadable = (): LiveFrameFault =>
  new LiveFrameFault('invalidPayload', 'The frame is not valid MessagePack');

/** A promise if it is long. */
function parse(data: SocketFrame): unknown {
  if (!(data instanceof Uint8Array)) throw new LiveFrameFault('unsupportedData', 'Frames must be binary');
  if (data.byteLength > LIMITS.socket.frameBytes)
    throw new LiveFrameFault('tooBig', 'The frame is larger than 32 MiB');
  if (data.byteLength > AT_ONCE_BYTES)
    return parseLongMsgpack(data, LIMITS.socket.textLength).catch(() => {
      throw unreadable();
    });
  try {
    return parseMsgpack(data);
  } catch {
    throw unreadable();
  }
}

/** Binary fields are views of the frame. Errors: `LiveFrameFault`. */
export function readFrame(
  frame: SocketFrame,
  model: SynthesisModel,
): LiveClientFrame | Promise<LiveClientFrame> {
  const value = parse(frame);
  return value instanceof Promise ? value.then((later) => frameOf(later, model)) : frameOf(value, model);
}

function frameOf(frame: unknown, model: SynthesisModel): LiveClientFrame {
  const read = isPlainObject(frame) ? EVENTS.get(frame['event']) : undefined;
  if (!isPlainObject(frame) || !read) throw new LiveFrameFault('policy', `event must be one of ${NAMES}`);
  try {
    return { event: read(frame, model), ignored: ignoredIn(frame) };
  } catch (error) {
    if (error instanceof ServiceError) throw new LiveFrameFault('policy', error.message);
    throw error;
  }
}

const encoder = new Encoder();

/** `time`: milliseconds since the synthesis started. */
export const audioFrame = (audio: Uint8Array, time: number): Uint8Array =>
  encoder.encode({ event: 'audio', audio, time });

/** With the times of its words. */
export const timedFrame = ({ audio, piece }: TimedAudio, time: number): Uint8Array =>
  encoder.encode({ event: 'audio', audio, ...timesOf(piece), time });

export const errorFrame = (message: string): Uint8Array => encoder.encode({ event: 'error', error: message });

export const finishFrame = (reason: 'stop' | 'error', time: number, message?: string): Uint8Array =>
  encoder.encode({ event: 'finish', reason, ...(message === undefined ? {} : { message }), time });
