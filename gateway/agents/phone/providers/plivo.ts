/**
 * Plivo: its XML, version 3 of its signature, and Audio Streams in both directions, requested as µ-law at 8 kHz.
 * https://www.plivo.com/docs/voice/audio-streaming/audio-streaming
 * https://docs.plivo.com/docs/voice/xml/audiostream
 * https://docs.plivo.com/docs/voice/xml/request/validation
 */
import { createHmac } from 'node:crypto';
import { LIMITS } from '../../../../contracts/limits.js';
import type { LineFormat } from '../../../../contracts/ports/calls/calls.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { boundFields } from '../../../server/bodies/structure.js';
import { formOf, incomingOf, onceForEach, type Provider, withToken, xmlReply, xmlText } from '../provider.js';
import { isSame } from '../signatures.js';
import { base64, markOf, readWith, type StreamMessages } from './messages.js';

/** Signatures of the number's account, and of its main account. */
const SIGNATURES = ['x-plivo-signature-v3', 'x-plivo-signature-ma-v3'];

/** Sorted by name, then by value. */
function sorted(fields: URLSearchParams, between: string): readonly string[] {
  const values = new Map<string, string[]>();
  for (const [name, value] of fields) {
    const own = values.get(name) ?? [];
    own.push(value);
    values.set(name, own);
  }
  const names = [...values.keys()].sort();
  return names.flatMap((name) => (values.get(name) ?? []).sort().map((value) => name + between + value));
}

/** What is signed: the address, its query and all fields, combined as Plivo's libraries do, and the nonce. */
const signedText = onceForEach((webhook) => {
  const [address = '', search = ''] = webhook.url.split('?', 2);
  boundFields(search, LIMITS.unauthenticated.parts);
  const query = sorted(new URLSearchParams(search), '=').join('&');
  const nonce = webhook.headers.get('x-plivo-signature-v3-nonce') ?? '';
  return `${address}?${query}${query && '.'}${sorted(formOf(webhook), '').join('')}.${nonce}`;
});

/** Most signatures that count in one header. */
const MOST_SIGNATURES = 8;

/** There are several while an account has two tokens. */
const signaturesOf = onceForEach(({ headers }) =>
  SIGNATURES.flatMap((name) => (headers.get(name) ?? '').split(',', MOST_SIGNATURES))
    .map((signature) => signature.trim())
    .filter((signature) => signature !== ''),
);

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
    const told = signaturesOf(webhook);
    if (told.length === 0) return false;
    const wanted = createHmac('sha256', secret).update(signedText(webhook)).digest('base64');
    return told.some((signature) => isSame(signature, wanted));
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
    clearAudio: () => JSON.stringify({ event: 'clearAudio', streamId }),
  }),
};
