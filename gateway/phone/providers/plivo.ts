/**
 * Plivo: its XML, version 3 of its signature, and Audio Streams in both directions, requested as µ-law at 8 kHz.
 * https://www.plivo.com/docs/voice/audio-streaming/audio-streaming
 * https://docs.plivo.com/docs/voice/xml/audiostream
 * https://docs.plivo.com/docs/voice/xml/request/validation
 */
import { createHmac } from 'node:crypto';
import type { LineFormat } from '../../../contracts/ports/calls/calls.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import { incomingOf, type Provider, withToken, xmlReply, xmlText } from '../provider.js';
import { isSame } from '../signatures.js';
import { base64, formOf, markOf, readWith, type StreamMessages } from './messages.js';

/** Signatures of the number's account, and of its main account. */
const SIGNATURES = ['x-plivo-signature-v3', 'x-plivo-signature-ma-v3'];

/** Sorted by name, then by value. */
const sorted = (fields: URLSearchParams, between: string): readonly string[] =>
  [...new Set(fields.keys())].sort().flatMap((name) =>
    fields
      .getAll(name)
      .sort()
      .map((value) => name + between + value),
  );

/** The address, its query and all fields, combined as Plivo's libraries do. */
function signed(url: string, form: URLSearchParams): string {
  const [address = '', search = ''] = url.split('?', 2);
  const query = sorted(new URLSearchParams(search), '=').join('&');
  return `${address}?${query}${query && '.'}${sorted(form, '').join('')}`;
}

function signatureOf(url: string, form: URLSearchParams, nonce: string, secret: string): string {
  return createHmac('sha256', secret)
    .update(`${signed(url, form)}.${nonce}`)
    .digest('base64');
}

const CONTENT = { type: 'audio/x-mulaw', rate: 8000 } as const;

/** Undefined if it is not as requested. */
function formatOf({ encoding, sampleRate }: PlainObject): LineFormat | undefined {
  const fits = encoding === CONTENT.type && sampleRate === CONTENT.rate;
  return fits ? { codec: 'mulaw', rate: CONTENT.rate } : undefined;
}

/** No parameters: `extraHeaders` may contain only letters and digits, and come back in more than one form. */
const MESSAGES: StreamMessages = {
  callId: 'callId',
  stream: 'streamId',
  parameters: undefined,
  format: ['mediaFormat', formatOf],
};

export const plivo: Provider = {
  name: 'plivo',
  incoming(webhook) {
    const form = formOf(webhook);
    return incomingOf(form.get('CallUUID') ?? '', form.get('From') ?? '', form.get('To') ?? '');
  },
  isSigned(webhook, secret) {
    const { url, headers } = webhook;
    const wanted = signatureOf(url, formOf(webhook), headers.get('x-plivo-signature-v3-nonce') ?? '', secret);
    // There are several while an account has two tokens.
    const told = SIGNATURES.flatMap((name) => (headers.get(name) ?? '').split(','));
    return told.some((signature) => isSame(signature.trim(), wanted));
  },
  accept: ({ url, token }) =>
    xmlReply(
      `<Stream bidirectional="true" keepCallAlive="true" contentType="${CONTENT.type};rate=${CONTENT.rate}">` +
        `${xmlText(withToken(url, token))}</Stream><Hangup/>`,
    ),
  reject: (reason) => xmlReply(`<Hangup reason="${reason}"/>`),
  read: readWith(MESSAGES, { playedStream: markOf }),
  writer: (streamId) => ({
    speak: (audio) => {
      const media = { contentType: CONTENT.type, sampleRate: CONTENT.rate, payload: base64(audio) };
      return JSON.stringify({ event: 'playAudio', media });
    },
    mark: (mark) => JSON.stringify({ event: 'checkpoint', streamId, name: String(mark) }),
    hush: () => JSON.stringify({ event: 'clearAudio', streamId }),
  }),
};
