/**
 * Exotel: the Voicebot applet, whose stream opens without a webhook before and shows a user and password (Basic) in its
 * handshake. Nothing is signed. Audio is linear PCM, and ours goes in messages of 200 ms: a message must have at least 3,200
 * bytes, in multiples of 320.
 * https://developer.exotel.com/docs/agentstream/stream-voicebot-applet
 * https://developer.exotel.com/docs/agentstream/websocket-protocol
 */
import type { LineFormat } from '../../../../contracts/ports/calls/calls.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { countIn, objectIn, onceForEach, StreamFault, type StreamProvider, textIn } from '../provider.js';
import { isSame } from '../signatures.js';
import { mediaOf, readWith, startOf, type StreamMessages, streamMessages } from './messages.js';

const FRAMES = 10;
const RATES: ReadonlySet<number | undefined> = new Set([8000, 16_000, 24_000]);
/** Names of linear PCM on its pages. */
const ENCODINGS: ReadonlySet<string> = new Set(['audio/x-raw', 'raw', 'base64']);

/** Undefined if it is not as Exotel documents it. */
function formatOf(fields: PlainObject): LineFormat | undefined {
  const rate = countIn(fields, 'sample_rate');
  const fits = ENCODINGS.has(textIn(fields, 'encoding')) && RATES.has(rate);
  return fits && rate !== undefined ? { codec: 'linear', rate, frames: FRAMES } : undefined;
}

const MESSAGES: StreamMessages = {
  callId: 'call_sid',
  stream: 'stream_sid',
  parameters: undefined,
  format: ['media_format', formatOf],
};

/** Numbers of India, where most ExoPhones are, may be written as they are dialled there. */
const numberIn = (fields: PlainObject, name: string): string =>
  textIn(fields, name).replace(/^0(?=[1-9]\d{9}$)/, '+91');

const read = readWith(MESSAGES, {
  // `start` also has the call's sides, beside its id.
  start(fields, names) {
    const start = objectIn(fields, 'start');
    return { ...startOf(fields, names), about: { from: numberIn(start, 'from'), to: numberIn(start, 'to') } };
  },
  media(fields) {
    const event = mediaOf(fields);
    const isWhole = event?.type !== 'media' || event.audio.length % 2 === 0;
    if (!isWhole) throw new StreamFault(1007, 'sound has to be of whole samples');
    return event;
  },
});

/** User and password of the handshake, in base64; empty if there are none. */
const toldBy = onceForEach(({ headers }) => {
  const [scheme = '', told = ''] = (headers.get('authorization') ?? '').split(' ', 2);
  return scheme.toLowerCase() === 'basic' ? told : '';
});

export const exotel: StreamProvider = {
  name: 'exotel',
  isSigned(handshake, secret) {
    const told = toldBy(handshake);
    return told !== '' && isSame(told, Buffer.from(secret).toString('base64'));
  },
  read,
  writer: (stream) => streamMessages({ stream_sid: stream }),
};
