/**
 * The frames of `/v1/tts/live` (native-and-platform.md section 3): each is binary and holds one MessagePack map
 * with an `event`. What comes in is bounded before it is decoded; a frame that cannot be taken says how the
 * socket ends.
 */
import { Encoder } from '@msgpack/msgpack';
import type { LiveFault } from '../../../actors/native-live.js';
import type { CloseReason } from '../../../contracts/close-codes.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SynthesisModel } from '../../../contracts/models.js';
import type { SynthesisRequest } from '../../../contracts/ports/speech.js';
import { parseMsgpack } from '../../server/body.js';
import { synthesisRequest } from './params.js';

export type ClientEvent =
  | { readonly type: 'start'; readonly request: SynthesisRequest }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'flush' }
  | { readonly type: 'stop' };

/** A frame that ends the socket. */
export class FrameFault extends Error implements LiveFault {
  constructor(
    readonly close: CloseReason,
    message: string,
  ) {
    super(message);
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

/** Text comes in events of its own, so the request may leave it out. */
function startOf({ request }: Fields, model: SynthesisModel): ClientEvent {
  if (!isFields(request)) throw new FrameFault('policy', 'missing field request');
  return { type: 'start', request: synthesisRequest({ ...request, text: request['text'] ?? '' }, model) };
}

function textOf({ text }: Fields): ClientEvent {
  if (typeof text === 'string') return { type: 'text', text };
  throw new FrameFault('policy', text === undefined ? 'missing field text' : 'text must be of type string');
}

const EVENTS = new Map<unknown, (fields: Fields, model: SynthesisModel) => ClientEvent>([
  ['start', startOf],
  ['text', textOf],
  ['flush', () => ({ type: 'flush' })],
  ['stop', () => ({ type: 'stop' })],
]);

const NAMES = [...EVENTS.keys()].map((name) => `\`${String(name)}\``).join(', ');

function parse(data: string | Uint8Array): unknown {
  if (typeof data === 'string') throw new FrameFault('unsupportedData', 'Frames must be binary');
  if (data.byteLength > LIMITS.socket.frameBytes)
    throw new FrameFault('tooBig', 'The frame is larger than 32 MiB');
  try {
    return parseMsgpack(data);
  } catch {
    throw new FrameFault('invalidPayload', 'The frame is not valid MessagePack');
  }
}

/** Binary fields are views of `data`. Errors: `FrameFault`. */
export function readFrame(data: string | Uint8Array, model: SynthesisModel): ClientEvent {
  const frame = parse(data);
  const read = isFields(frame) ? EVENTS.get(frame['event']) : undefined;
  if (!isFields(frame) || !read) throw new FrameFault('policy', `event must be one of ${NAMES}`);
  try {
    return read(frame, model);
  } catch (error) {
    if (error instanceof ServiceError) throw new FrameFault('policy', error.message);
    throw error;
  }
}

const encoder = new Encoder();

/** `time` in milliseconds since the start. */
export const audioFrame = (audio: Uint8Array, time: number): Uint8Array =>
  encoder.encode({ event: 'audio', audio, time });

export const finishFrame = (reason: 'stop' | 'error', time: number, message?: string): Uint8Array =>
  encoder.encode({ event: 'finish', reason, ...(message === undefined ? {} : { message }), time });
