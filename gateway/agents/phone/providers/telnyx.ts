/**
 * Telnyx: TeXML, webhooks signed with Ed25519, and media streams of RTP payloads in both directions, of which G.711 at
 * 8 kHz is asked for.
 * https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/stream
 * https://developers.telnyx.com/api-reference/websockets/stream-call-media-over-websocket
 * https://developers.telnyx.com/api-reference/callbacks/texml-http-request
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { LineFormat } from '../../../../contracts/ports/calls/calls.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { formOf, onceForEach, type Provider, textIn, type Webhook, xmlReply, xmlText } from '../provider.js';
import { isTimely } from '../signatures.js';
import { incomingForm, readWith, type StreamMessages, streamMessages } from './messages.js';

/** How Ed25519 keys begin as DER (RFC 8410); Telnyx shows the 32 bytes after that in base64. */
const DER_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;

function publicKeyOf(secret: string): KeyObject | undefined {
  const bytes = Buffer.from(secret, 'base64');
  if (bytes.length !== KEY_BYTES) return undefined;
  return createPublicKey({ key: Buffer.concat([DER_HEAD, bytes]), format: 'der', type: 'spki' });
}

/** Bytes of an Ed25519 signature. */
const SIGNATURE_BYTES = 64;

const signedOf = onceForEach(({ headers, body }) => {
  const time = headers.get('telnyx-timestamp') ?? '';
  const told = Buffer.from(headers.get('telnyx-signature-ed25519') ?? '', 'base64');
  const fits = /^\d{1,12}$/.test(time) && told.length === SIGNATURE_BYTES;
  return fits ? { time, told, text: Buffer.concat([Buffer.from(`${time}|`), body]) } : undefined;
});

function isSigned(webhook: Webhook, secret: string, now: number): boolean {
  const signed = signedOf(webhook);
  const key = signed && isTimely(Number(signed.time), now) ? publicKeyOf(secret) : undefined;
  return signed !== undefined && key !== undefined && verify(null, signed.text, key, signed.told);
}

const CODECS: Readonly<Record<string, LineFormat['codec']>> = { PCMU: 'mulaw', PCMA: 'alaw' };

/** Undefined for unsupported codecs: Telnyx uses the call's own if it cannot transcode it. */
function formatOf(fields: PlainObject): LineFormat | undefined {
  const { sample_rate: rate, channels } = fields;
  const encoding = textIn(fields, 'encoding');
  const codec = Object.hasOwn(CODECS, encoding) ? CODECS[encoding] : undefined;
  return codec && rate === 8000 && channels === 1 ? { codec, rate } : undefined;
}

const MESSAGES: StreamMessages = {
  callId: 'call_control_id',
  stream: 'stream_id',
  parameters: 'custom_parameters',
  format: ['media_format', formatOf],
};

export const telnyx: Provider = {
  name: 'telnyx',
  incoming: (webhook) => incomingForm(formOf(webhook)),
  isSigned,
  accept: ({ url, token }) =>
    xmlReply(
      `<Connect><Stream url="${xmlText(url)}" codec="PCMU" bidirectionalMode="rtp" bidirectionalCodec="PCMU">` +
        `<Parameter name="token" value="${xmlText(token)}"/></Stream></Connect>`,
    ),
  reject: (reason) => xmlReply(`<Reject reason="${reason}"/>`),
  read: readWith(MESSAGES),
  // Messages name no stream: there is one per socket.
  writer: () => streamMessages({}),
};
