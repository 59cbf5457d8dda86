/**
 * Connectivity checks of ICE (RFC 8445, 7.2.2), which are STUN requests (RFC 8489, 5 and 14): whose they are, and with what
 * tie-breaker. Chromium's relayed candidates over TCP and TLS have the tie-breaker 0, which is allowed, and which our library
 * takes for none (libjuice, issue 355): it answers 400, upon which Chromium gives the candidate up.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const HEADER_BYTES = 20;
const BINDING_REQUEST = 0x0001;
const COOKIE = 0x2112_a442;
/** A digest of SHA-1 with the head of its attribute. */
const INTEGRITY_BYTES = 24;

const USERNAME = 0x0006;
const INTEGRITY = 0x0008;
const TIE_BREAKERS: ReadonlySet<number> = new Set([0x8029, 0x802a]);
const TIE_BREAKER_BYTES = 8;

/** Offsets in a message. */
interface Check {
  /** The fragment of whom it is for. */
  readonly fragment: string;
  /** Of the tie-breaker's value. */
  readonly tie: number;
  /** Of the attribute MESSAGE-INTEGRITY. */
  readonly integrity: number;
}

const isRequest = (message: Buffer): boolean =>
  message.length >= HEADER_BYTES &&
  message.readUInt16BE(0) === BINDING_REQUEST &&
  message.readUInt32BE(4) === COOKIE;

/** Type, offset and length of each attribute's value. */
function* attributesOf(message: Buffer): Generator<readonly [type: number, at: number, length: number]> {
  for (let at = HEADER_BYTES; at + 4 <= message.length;) {
    const length = message.readUInt16BE(at + 2);
    if (at + 4 + length > message.length) return;
    yield [message.readUInt16BE(at), at + 4, length];
    at += 4 + Math.ceil(length / 4) * 4;
  }
}

/** Undefined if the message is no check, or lacks a part. */
function checkIn(message: Buffer): Check | undefined {
  if (!isRequest(message)) return undefined;
  let [fragment, tie] = ['', 0];
  for (const [type, at, length] of attributesOf(message)) {
    if (type === USERNAME) [fragment = ''] = message.toString('utf8', at, at + length).split(':');
    if (TIE_BREAKERS.has(type) && length === TIE_BREAKER_BYTES) tie = at;
    if (type === INTEGRITY && length === INTEGRITY_BYTES - 4 && tie > 0)
      return { fragment, tie, integrity: at - 4 };
  }
  return undefined;
}

/** The digest over everything before it, as if nothing came after it. */
function digestOf(message: Buffer, integrity: number, password: string): Buffer {
  const signed = Buffer.from(message.subarray(0, integrity));
  signed.writeUInt16BE(integrity + INTEGRITY_BYTES - HEADER_BYTES, 2);
  return createHmac('sha1', password).update(signed).digest();
}

const isSigned = (message: Buffer, { integrity }: Check, password: string): boolean =>
  timingSafeEqual(
    message.subarray(integrity + 4, integrity + INTEGRITY_BYTES),
    digestOf(message, integrity, password),
  );

/** With 1 as its tie-breaker, which loses against others like 0, and signed anew; what came after the signature is left out. */
function repaired(message: Buffer, { tie, integrity }: Check, password: string): Buffer {
  const copy = Buffer.from(message.subarray(0, integrity + INTEGRITY_BYTES));
  copy[tie + TIE_BREAKER_BYTES - 1] = 1;
  copy.writeUInt16BE(copy.length - HEADER_BYTES, 2);
  digestOf(copy, integrity, password).copy(copy, integrity + 4);
  return copy;
}

/**
 * A check with the tie-breaker 0 as our library takes it, and whom it is for. Undefined for anything else, and unless it is signed
 * with the password of its fragment.
 */
export function repairedCheck(
  message: Buffer,
  passwords: ReadonlyMap<string, string>,
): { readonly fragment: string; readonly message: Buffer } | undefined {
  const check = checkIn(message);
  const password = check && passwords.get(check.fragment);
  if (!check || password === undefined) return undefined;
  if (message.readBigUInt64BE(check.tie) !== 0n || !isSigned(message, check, password)) return undefined;
  return { fragment: check.fragment, message: repaired(message, check, password) };
}
