/**
 * Twilio: TwiML, its signature, and Media Streams in both directions, always µ-law at 8 kHz.
 * https://www.twilio.com/docs/voice/media-streams/websocket-messages
 * https://www.twilio.com/docs/voice/twiml/stream
 * https://www.twilio.com/docs/usage/security#validating-requests
 */
import { createHmac } from 'node:crypto';
import type { LineFormat } from '../../../../contracts/ports/calls/calls.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { formOf, onceForEach, type Provider, xmlReply, xmlText } from '../provider.js';
import { isSame } from '../signatures.js';
import { incomingForm, readWith, type StreamMessages, streamMessages } from './messages.js';

/** What is signed behind the address: all fields, sorted; each value of a repeated field once. */
function signedFields(form: URLSearchParams): string {
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of form) fields.set(name, (fields.get(name) ?? new Set()).add(value));
  const names = [...fields.keys()].sort();
  return names
    .map((name) =>
      [...(fields.get(name) ?? [])]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
}

const PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** Forms of the address that may have been signed: with or without a port. */
function spellingsOf(url: string): ReadonlySet<string> {
  const { protocol, hostname, port } = new URL(url);
  const rest = url.slice(url.indexOf('/', protocol.length + 2));
  return new Set([
    url,
    `${protocol}//${hostname}:${port || PORTS[protocol]}${rest}`,
    `${protocol}//${hostname}${rest}`,
  ]);
}

/** The texts of which one was signed. */
const signedTexts = onceForEach((webhook) => {
  const fields = signedFields(formOf(webhook));
  return [...spellingsOf(webhook.url)].map((url) => url + fields);
});

/** Undefined if it is not as Twilio documents it. */
function formatOf({ encoding, sampleRate, channels }: PlainObject): LineFormat | undefined {
  const fits = encoding === 'audio/x-mulaw' && sampleRate === 8000 && channels === 1;
  return fits ? { codec: 'mulaw', rate: 8000 } : undefined;
}

const MESSAGES: StreamMessages = {
  callId: 'callSid',
  stream: 'streamSid',
  parameters: 'customParameters',
  format: ['mediaFormat', formatOf],
};

export const twilio: Provider = {
  name: 'twilio',
  incoming: (webhook) => incomingForm(formOf(webhook)),
  isSigned(webhook, secret) {
    const signature = webhook.headers.get('x-twilio-signature') ?? '';
    return (
      signature !== '' &&
      signedTexts(webhook).some((text) =>
        isSame(signature, createHmac('sha1', secret).update(text).digest('base64')),
      )
    );
  },
  accept: ({ url, token }) =>
    xmlReply(
      `<Connect><Stream url="${xmlText(url)}"><Parameter name="token" value="${xmlText(token)}"/></Stream></Connect>`,
    ),
  reject: (reason) => xmlReply(`<Reject reason="${reason}"/>`),
  read: readWith(MESSAGES),
  writer: (streamSid) => streamMessages({ streamSid }),
};
