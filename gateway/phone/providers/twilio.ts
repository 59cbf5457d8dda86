/**
 * Twilio: TwiML, its signature, and Media Streams in both directions, which are µ-law at 8 kHz always.
 * https://www.twilio.com/docs/voice/media-streams/websocket-messages
 * https://www.twilio.com/docs/voice/twiml/stream
 * https://www.twilio.com/docs/usage/security#validating-requests
 */
import { createHmac } from 'node:crypto';
import { decodeBase64 } from '../../../contracts/base64.js';
import type { LineFormat } from '../../../contracts/ports/calls.js';
import {
  countIn,
  type Fields,
  incomingOf,
  jsonMessage,
  objectIn,
  type Provider,
  StreamFault,
  type StreamEvent,
  textIn,
  type Webhook,
  xmlReply,
  xmlText,
} from '../provider.js';
import { isSame } from '../signatures.js';

const UTF8 = new TextDecoder();

const formOf = ({ body }: Pick<Webhook, 'body'>): URLSearchParams => new URLSearchParams(UTF8.decode(body));

/** The address and all fields behind it, sorted; of a repeated field each value once. */
function signed(url: string, form: URLSearchParams): string {
  const names = [...new Set(form.keys())].sort();
  const fields = names.flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value));
  return url + fields.join('');
}

const PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** The address as it may have been signed: a port is named, or is not. */
function spellingsOf(url: string): readonly string[] {
  const { protocol, hostname, port } = new URL(url);
  const rest = url.slice(url.indexOf('/', protocol.length + 2));
  return [
    url,
    `${protocol}//${hostname}:${port || PORTS[protocol]}${rest}`,
    `${protocol}//${hostname}${rest}`,
  ];
}

/** Undefined where it claims anything but what Twilio documents. */
function formatOf({ encoding, sampleRate, channels }: Fields): LineFormat | undefined {
  const fits = encoding === 'audio/x-mulaw' && sampleRate === 8000 && channels === 1;
  return fits ? { codec: 'mulaw', rate: 8000 } : undefined;
}

function media(fields: Fields): StreamEvent | undefined {
  const { track = 'inbound', ...rest } = objectIn(fields, 'media');
  if (track !== 'inbound') return undefined;
  const payload = rest['payload'];
  const audio = typeof payload === 'string' ? decodeBase64(payload) : undefined;
  if (!audio) throw new StreamFault(1007, 'a payload is no base64');
  const order = countIn(rest, 'chunk');
  return { type: 'media', audio, ...(order !== undefined && { order }) };
}

const EVENTS: Readonly<Record<string, (fields: Fields) => StreamEvent | undefined>> = {
  start(fields) {
    const start = objectIn(fields, 'start');
    return {
      type: 'start',
      stream: textIn(start, 'streamSid') || textIn(fields, 'streamSid'),
      callId: textIn(start, 'callSid'),
      token: textIn(objectIn(start, 'customParameters'), 'token'),
      format: formatOf(objectIn(start, 'mediaFormat')),
    };
  },
  media,
  dtmf: (fields) => ({ type: 'key', key: textIn(objectIn(fields, 'dtmf'), 'digit') }),
  mark(fields) {
    const mark = countIn(objectIn(fields, 'mark'), 'name');
    return mark === undefined ? undefined : { type: 'mark', mark };
  },
  stop: () => ({ type: 'stop' }),
};

export const twilio: Provider = {
  name: 'twilio',
  incoming(webhook) {
    const form = formOf(webhook);
    return incomingOf(form.get('CallSid') ?? '', form.get('From') ?? '', form.get('To') ?? '');
  },
  isSigned(webhook, secret) {
    const signature = webhook.headers.get('x-twilio-signature') ?? '';
    const form = formOf(webhook);
    return spellingsOf(webhook.url).some((url) =>
      isSame(signature, createHmac('sha1', secret).update(signed(url, form)).digest('base64')),
    );
  },
  accept: ({ url, token }) =>
    xmlReply(
      `<Connect><Stream url="${xmlText(url)}"><Parameter name="token" value="${xmlText(token)}"/></Stream></Connect>`,
    ),
  reject: (reason) => xmlReply(`<Reject reason="${reason}"/>`),
  read(message) {
    const fields = jsonMessage(message);
    const event = textIn(fields, 'event');
    return Object.hasOwn(EVENTS, event) ? EVENTS[event]?.(fields) : undefined;
  },
  writer: (streamSid) => ({
    speak: (audio) => {
      const payload = Buffer.from(audio).toString('base64');
      return JSON.stringify({ event: 'media', streamSid, media: { payload } });
    },
    mark: (mark) => JSON.stringify({ event: 'mark', streamSid, mark: { name: String(mark) } }),
    hush: () => JSON.stringify({ event: 'clear', streamSid }),
  }),
};
