/**
 * Vonage: call control objects (NCCO), webhooks signed by a JWT, and WebSockets of linear PCM at 16 kHz.
 * https://developer.vonage.com/en/voice/voice-api/guides/websockets
 * https://developer.vonage.com/en/voice/voice-api/webhook-reference
 * https://developer.vonage.com/en/getting-started/concepts/webhooks
 */
import { createHash, createHmac } from 'node:crypto';
import type { LineFormat } from '../../../../contracts/ports/calls/calls.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { json } from '../../../server/replies.js';
import {
  fieldsOf,
  incomingOf,
  jsonMessage,
  jsonObject,
  objectIn,
  onceForEach,
  type Provider,
  type StreamEvent,
  StreamFault,
  textIn,
  type Webhook,
} from '../provider.js';
import { isSame, isTimely } from '../signatures.js';
import { markOf } from './messages.js';

/** The token of the header; empty if there is none. */
const tokenOf = onceForEach(({ headers }) => {
  const [scheme = '', token = ''] = (headers.get('authorization') ?? '').split(' ', 2);
  return scheme.toLowerCase() === 'bearer' ? token : '';
});

const hashOf = onceForEach(({ body }) => createHash('sha256').update(body).digest('hex'));

/** The claims of a token signed with that secret by HMAC-SHA256, whatever algorithm its header names (RFC 7519). */
function claimsOf(token: string, secret: string): PlainObject | undefined {
  const [head = '', claims = '', signature = '', ...more] = token.split('.', 4);
  if (signature === '') return undefined;
  const wanted = createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url');
  if (more.length > 0 || !isSame(signature, wanted)) return undefined;
  return jsonObject(Buffer.from(claims, 'base64url').toString());
}

/** The token contains its time and a hash of the body; a replay concerns the same call, which is answered once. */
function isSigned(webhook: Webhook, secret: string, now: number): boolean {
  const claims = claimsOf(tokenOf(webhook), secret);
  if (!claims) return false;
  const { iat, exp = Infinity } = claims;
  const isCurrent =
    typeof iat === 'number' && isTimely(iat, now) && typeof exp === 'number' && now <= exp * 1000;
  return isCurrent && isSame(textIn(claims, 'payload_hash').toLowerCase(), hashOf(webhook));
}

/** A member of webhooks about the state of a call, absent from the question who answers. */
const STATE = 'status';

const CONTENT = 'audio/l16;rate=16000';
const FORMAT: LineFormat = { codec: 'linear', rate: 16_000 };

type Event = (fields: PlainObject) => StreamEvent | undefined;

const EVENTS: Readonly<Record<string, Event>> = {
  /** The headers given for the address come beside the event's own members. */
  'websocket:connected': (fields) => ({
    type: 'start',
    stream: '',
    callId: textIn(fields, 'call_id'),
    token: textIn(fields, 'token'),
    format: textIn(fields, 'content-type') === CONTENT ? FORMAT : undefined,
  }),
  'websocket:dtmf': (fields) => ({ type: 'key', key: textIn(fields, 'digit') }),
  'websocket:notify': (fields) => markOf(objectIn(fields, 'payload')),
};

function soundOf(audio: Uint8Array): StreamEvent {
  if (audio.length % 2 !== 0) throw new StreamFault(1007, 'sound has to be of whole samples');
  return { type: 'media', audio };
}

export const vonage: Provider = {
  name: 'vonage',
  incoming(webhook) {
    const fields = fieldsOf(webhook);
    if (!fields || STATE in fields) return undefined;
    return incomingOf(textIn(fields, 'uuid'), textIn(fields, 'from'), textIn(fields, 'to'));
  },
  isSigned,
  accept({ url, token, callId }) {
    const headers = { token, call_id: callId };
    const endpoint = [{ type: 'websocket', uri: url, 'content-type': CONTENT, headers }];
    return json(200, [{ action: 'connect', endpoint }]);
  },
  // A call with nothing left to do ends; there is no way to report a busy line.
  reject: () => json(200, []),
  read(message) {
    if (typeof message !== 'string') return soundOf(message);
    const fields = jsonMessage(message);
    const event = textIn(fields, 'event');
    return Object.hasOwn(EVENTS, event) ? EVENTS[event]?.(fields) : undefined;
  },
  writer: () => ({
    speak: (audio) => audio,
    mark: (mark) => JSON.stringify({ action: 'notify', payload: { name: String(mark) } }),
    clearAudio: () => JSON.stringify({ action: 'clear' }),
  }),
};
