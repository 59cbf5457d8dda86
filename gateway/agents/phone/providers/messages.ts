/** Messages of media streams as Twilio designed them; other providers adopted them with their own names. */
import { decodeBase64 } from '../../../../contracts/text/base64.js';
import type { LineFormat } from '../../../../contracts/ports/calls/calls.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import {
  countIn,
  type IncomingCall,
  incomingOf,
  jsonMessage,
  objectIn,
  type Provider,
  StreamFault,
  type StreamEvent,
  type StreamWriter,
  textIn,
} from '../provider.js';

export const incomingForm = (form: URLSearchParams): IncomingCall | undefined =>
  incomingOf(form.get('CallSid') ?? '', form.get('From') ?? '', form.get('To') ?? '');

/** A provider's names of the members of `start`. */
export interface StreamMessages {
  readonly callId: string;
  /** In `start`, or beside it. */
  readonly stream: string;
  /** Undefined if a stream gets no parameters. */
  readonly parameters: string | undefined;
  readonly format: readonly [name: string, read: (fields: PlainObject) => LineFormat | undefined];
}

export function startOf(
  fields: PlainObject,
  names: StreamMessages,
): Extract<StreamEvent, { readonly type: 'start' }> {
  const start = objectIn(fields, 'start');
  const [format, read] = names.format;
  return {
    type: 'start',
    stream: textIn(start, names.stream) || textIn(fields, names.stream),
    callId: textIn(start, names.callId),
    token: names.parameters === undefined ? undefined : textIn(objectIn(start, names.parameters), 'token'),
    format: read(objectIn(start, format)),
  };
}

/** The caller's audio; undefined for audio of the other direction. */
export function mediaOf(fields: PlainObject): StreamEvent | undefined {
  const { track = 'inbound', ...rest } = objectIn(fields, 'media');
  if (track !== 'inbound') return undefined;
  const payload = rest['payload'];
  const audio = typeof payload === 'string' ? decodeBase64(payload) : undefined;
  if (!audio) throw new StreamFault(1007, 'a payload is no base64');
  const order = countIn(rest, 'chunk');
  return { type: 'media', audio, ...(order !== undefined && { order }) };
}

type StreamEvents = Readonly<
  Record<string, (fields: PlainObject, names: StreamMessages) => StreamEvent | undefined>
>;

/** A returned mark, from the member with its name. */
export function markOf(fields: PlainObject): StreamEvent | undefined {
  const mark = countIn(fields, 'name');
  return mark === undefined ? undefined : { type: 'mark', mark };
}

const EVENTS: StreamEvents = {
  start: startOf,
  media: mediaOf,
  dtmf: (fields) => ({ type: 'key', key: textIn(objectIn(fields, 'dtmf'), 'digit') }),
  mark: (fields) => markOf(objectIn(fields, 'mark')),
  stop: () => ({ type: 'stop' }),
};

/** `own`: events that a provider has in addition, or with another name. */
export function readWith(names: StreamMessages, own: StreamEvents = {}): Provider['read'] {
  const events = { ...EVENTS, ...own };
  return (message) => {
    const fields = jsonMessage(message);
    const event = textIn(fields, 'event');
    return Object.hasOwn(events, event) ? events[event]?.(fields, names) : undefined;
  };
}

export const base64 = (audio: Uint8Array): string => Buffer.from(audio).toString('base64');

/** `stream`: the member that names the stream, if there is one. */
export const streamMessages = (stream: Readonly<Record<string, string>>): StreamWriter => ({
  speak: (audio) => JSON.stringify({ event: 'media', ...stream, media: { payload: base64(audio) } }),
  mark: (mark) => JSON.stringify({ event: 'mark', ...stream, mark: { name: String(mark) } }),
  clearAudio: () => JSON.stringify({ event: 'clear', ...stream }),
});
