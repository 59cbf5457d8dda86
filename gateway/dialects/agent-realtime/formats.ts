/** Audio formats of an agent's socket: PCM at 24 kHz, and the G.711 of telephone lines, as clients spell them. */
import type { LineFormat } from '../../../contracts/ports/calls/calls.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import { Fault } from '../protocol-a/realtime/faults.js';

const PCM_RATE = 24_000;
const LINE_RATE = 8000;

/** Frames of 20 ms that are sent before they are due: what a client needs so that a late packet is not heard. */
const AHEAD = 9;

export type SocketFormat = 'audio/pcm' | 'audio/pcmu' | 'audio/pcma';

const LINES: Readonly<Record<SocketFormat, LineFormat>> = {
  'audio/pcm': { codec: 'linear', rate: PCM_RATE, ahead: AHEAD, silent: true },
  'audio/pcmu': { codec: 'mulaw', rate: LINE_RATE, ahead: AHEAD, silent: true },
  'audio/pcma': { codec: 'alaw', rate: LINE_RATE, ahead: AHEAD, silent: true },
};

/** Names from before formats were objects. */
const OLDER: Readonly<Record<string, SocketFormat>> = {
  pcm16: 'audio/pcm',
  g711_ulaw: 'audio/pcmu',
  g711_alaw: 'audio/pcma',
};

const isFormat = (name: unknown): name is SocketFormat =>
  typeof name === 'string' && Object.hasOwn(LINES, name);

/** Errors: `Fault`. */
export function readSocketFormat(value: unknown, param: string): SocketFormat {
  const { type, rate } = isPlainObject(value) ? value : { type: value, rate: undefined };
  const format = typeof type === 'string' && Object.hasOwn(OLDER, type) ? OLDER[type] : type;
  if (!isFormat(format)) {
    const message = `The format of an agent's audio must be one of ${Object.keys(LINES).join(', ')}`;
    throw new Fault('unsupported_audio_format', message, isPlainObject(value) ? `${param}.type` : param);
  }
  const own = LINES[format].rate;
  if (rate === undefined || rate === null || rate === own) return format;
  throw new Fault('unsupported_audio_format', `The rate of ${format} is ${own} Hz`, `${param}.rate`);
}

export const lineOf = (format: SocketFormat): LineFormat => LINES[format];

/** Only that of PCM has a rate on the wire. */
export const showSocketFormat = (format: SocketFormat): object =>
  format === 'audio/pcm' ? { type: format, rate: PCM_RATE } : { type: format };
