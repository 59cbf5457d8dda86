/** Messages of STUN and TURN (RFC 8489, 5 and 14; RFC 8656, 18) as a client of TURN servers writes and reads them: pure. */
import { createHash, createHmac } from 'node:crypto';

const HEADER_BYTES = 20;
const COOKIE = 0x2112_a442;
const TRANSACTION_BYTES = 12;
const INTEGRITY_BYTES = 24;

/** Types of requests; a success has `SUCCESS` in addition, an error `ERROR`. */
export const REQUESTS = { binding: 0x0001, allocate: 0x0003, refresh: 0x0004 } as const;
const SUCCESS = 0x0100;
const ERROR = 0x0110;

const ATTRIBUTES = {
  username: 0x0006,
  integrity: 0x0008,
  errorCode: 0x0009,
  lifetime: 0x000d,
  realm: 0x0014,
  nonce: 0x0015,
  transport: 0x0019,
} as const;

/** UDP, the only transport of what is relayed. */
const RELAYS_UDP = Buffer.from([17, 0, 0, 0]);

export interface StunCredentials {
  readonly username: string;
  readonly credential: string;
}

/** What a server says to a request without credentials: to what they belong, and for how long. */
export interface Challenge {
  readonly realm: string;
  readonly nonce: string;
}

export interface StunRequest {
  readonly kind: keyof typeof REQUESTS;
  /** Twelve random bytes. */
  readonly transaction: Uint8Array;
  readonly auth?: StunCredentials & Challenge;
}

export interface StunAnswer {
  readonly transaction: Buffer;
  readonly isSuccess: boolean;
  /** Of an error: 300 to 699. */
  readonly code?: number | undefined;
  readonly challenge?: Challenge | undefined;
}

function attribute(type: number, value: Uint8Array): Buffer {
  const whole = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
  whole.writeUInt16BE(type, 0);
  whole.writeUInt16BE(value.length, 2);
  whole.set(value, 4);
  return whole;
}

/** RFC 8489, 9.2.2: the key of credentials that stay. */
const keyOf = ({ username, realm, credential }: StunCredentials & Challenge): Buffer =>
  createHash('md5').update(`${username}:${realm}:${credential}`).digest();

/** With the message's own length, and the digest over everything before it. */
function signed(message: Buffer, key: Buffer): Buffer {
  message.writeUInt16BE(message.length + INTEGRITY_BYTES - HEADER_BYTES, 2);
  const digest = createHmac('sha1', key).update(message).digest();
  return Buffer.concat([message, attribute(ATTRIBUTES.integrity, digest)]);
}

/** A refresh asks for no lifetime, which ends what was allocated. */
const OWN: Readonly<Record<keyof typeof REQUESTS, readonly Buffer[]>> = {
  binding: [],
  allocate: [attribute(ATTRIBUTES.transport, RELAYS_UDP)],
  refresh: [attribute(ATTRIBUTES.lifetime, Buffer.alloc(4))],
};

const textOf = (type: number, value: string): Buffer => attribute(type, Buffer.from(value));

export function requestBytes({ kind, transaction, auth }: StunRequest): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt16BE(REQUESTS[kind], 0);
  head.writeUInt32BE(COOKIE, 4);
  head.set(transaction.subarray(0, TRANSACTION_BYTES), 8);
  const who = auth
    ? [
        textOf(ATTRIBUTES.username, auth.username),
        textOf(ATTRIBUTES.realm, auth.realm),
        textOf(ATTRIBUTES.nonce, auth.nonce),
      ]
    : [];
  const message = Buffer.concat([head, ...OWN[kind], ...who]);
  message.writeUInt16BE(message.length - HEADER_BYTES, 2);
  return auth ? signed(message, keyOf(auth)) : message;
}

/** Bytes of the message that a stream begins with; undefined: more are needed to know. */
export const lengthOfMessage = (bytes: Buffer): number | undefined =>
  bytes.length < 4 ? undefined : HEADER_BYTES + bytes.readUInt16BE(2);

function attributesIn(message: Buffer): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = HEADER_BYTES; at + 4 <= message.length;) {
    const [type, length] = [message.readUInt16BE(at), message.readUInt16BE(at + 2)];
    if (!found.has(type)) found.set(type, message.subarray(at + 4, at + 4 + length));
    at += 4 + Math.ceil(length / 4) * 4;
  }
  return found;
}

function codeIn(value: Buffer | undefined): number | undefined {
  const [, , hundreds, rest] = value ?? [];
  return hundreds === undefined || rest === undefined ? undefined : (hundreds & 7) * 100 + rest;
}

/** Undefined if the bytes are no answer of STUN. */
export function answerIn(message: Buffer): StunAnswer | undefined {
  if (message.length < HEADER_BYTES || message.readUInt32BE(4) !== COOKIE) return undefined;
  const kind = message.readUInt16BE(0) & ERROR;
  if (kind !== SUCCESS && kind !== ERROR) return undefined;
  const attributes = attributesIn(message);
  const [realm, nonce] = [attributes.get(ATTRIBUTES.realm), attributes.get(ATTRIBUTES.nonce)];
  return {
    transaction: message.subarray(8, HEADER_BYTES),
    isSuccess: kind === SUCCESS,
    code: codeIn(attributes.get(ATTRIBUTES.errorCode)),
    challenge: realm && nonce && { realm: realm.toString(), nonce: nonce.toString() },
  };
}
