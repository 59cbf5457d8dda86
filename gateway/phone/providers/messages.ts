/** The messages of media streams as Twilio has made them, which others have taken over with names of their own. */
import { decodeBase64 } from '../../../contracts/base64.js';
import type { LineFormat } from '../../../contracts/ports/calls.js';
import {
  countIn,
  type Fields,
  type IncomingCall,
  incomingOf,
  jsonMessage,
  objectIn,
  type Provider,
  StreamFault,
  type StreamEvent,
  type StreamWriter,
  textIn,
  type Webhook,
} from '../provider.js';

const UTF8 = new TextDecoder();

export const formOf = ({ body }: Pick<Webhook, 'body'>): URLSearchParams =>
  new URLSearchParams(UTF8.decode(body));

export const incomingForm = (form: URLSearchParams): IncomingCall | undefined =>
  incomingOf(form.get('CallSid') ?? '', form.get('From') ?? '', form.get('To') ?? '');

/** How a provider calls the members of `start`. */
export interface StreamMessages {
  readonly callId: string;
  /** In `start`, or beside it. */
  readonly stream: string;
  readonly parameters: string;
  readonly format: readonly [name: string, read: (fields: Fields) => LineFormat | undefined];
}

function startOf(fields: Fields, names: StreamMessages): StreamEvent {
  const start = objectIn(fields, 'start');
  const [format, read] = names.format;
  return {
    type: 'start',
    stream: textIn(start, names.stream) || textIn(fields, names.stream),
    callId: textIn(start, names.callId),
    token: textIn(objectIn(start, names.parameters), 'token'),
    format: read(objectIn(start, format)),
  };
}

/** Sound of the caller; of the other direction, where that comes as well, nothing. */
function mediaOf(fields: Fields): StreamEvent | undefined {
  const { track = 'inbound', ...rest } = objectIn(fields, 'media');
  if (track !== 'inbound') return undefined;
  const payload = rest['payload'];
  const audio = typeof payload === 'string' ? decodeBase64(payload) : undefined;
  if (!audio) throw new StreamFault(1007, 'a payload is no base64');
  const order = countIn(rest, 'chunk');
  return { type: 'media', audio, ...(order !== undefined && { order }) };
}

const EVENTS: Readonly<Record<string, (fields: Fields, names: StreamMessages) => StreamEvent | undefined>> = {
  start: startOf,
  media: mediaOf,
  dtmf: (fields) => ({ type: 'key', key: textIn(objectIn(fields, 'dtmf'), 'digit') }),
  mark(fields) {
    const mark = countIn(objectIn(fields, 'mark'), 'name');
    return mark === undefined ? undefined : { type: 'mark', mark };
  },
  stop: () => ({ type: 'stop' }),
};

export const readWith =
  (names: StreamMessages): Provider['read'] =>
  (message) => {
    const fields = jsonMessage(message);
    const event = textIn(fields, 'event');
    return Object.hasOwn(EVENTS, event) ? EVENTS[event]?.(fields, names) : undefined;
  };

/** `stream`: the member that names the stream, where there is one. */
export const streamMessages = (stream: Readonly<Record<string, string>>): StreamWriter => ({
  speak: (audio) => {
    const payload = Buffer.from(audio).toString('base64');
    return JSON.stringify({ event: 'media', ...stream, media: { payload } });
  },
  mark: (mark) => JSON.stringify({ event: 'mark', ...stream, mark: { name: String(mark) } }),
  hush: () => JSON.stringify({ event: 'clear', ...stream }),
});
