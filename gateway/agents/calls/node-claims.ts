/**
 * Authentication between nodes: a signature with a key that all of them derive from SECRETS_KEY, over the request, the
 * installation that is asked, the time and a nonce. If stolen from the wire, it is useless: later, a second time, at
 * another installation, or for another request.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import type { JoinClaims } from '../../../contracts/ports/calls/join-tokens.js';

export interface RelayClaims extends Pick<JoinClaims, 'sessionId' | 'use'> {
  /** The installation that is asked. */
  readonly to: string;
  /** `owner`: it has the call; `room`: the call may begin there, or be taken over. */
  readonly wants: 'owner' | 'room';
  /** SHA-256 of the first frame, in hex. */
  readonly digest: string;
}

interface Signed extends RelayClaims {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly nonce: string;
}

const { clockMs, nonces: MOST_NONCES } = LIMITS.node;
const HEADER = /^Node ([\w-]{1,2048})\.([\w-]{43})$/;
const NONCE_BYTES = 16;

const signatureOf = (key: Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

export const digestOf = (frame: string): string => createHash('sha256').update(frame).digest('hex');

/** The value of `Authorization`. */
export function signed(key: Uint8Array, claims: RelayClaims, clock: Pick<Clock, 'now'>): string {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const all: Signed = { ...claims, at: clock.now(), nonce };
  const text = Buffer.from(JSON.stringify(all)).toString('base64url');
  return `Node ${text}.${signatureOf(key, text).toString('base64url')}`;
}

const TEXTS = ['to', 'sessionId', 'use', 'wants', 'digest', 'nonce'] as const;

/** Checks the form: claims signed with our key are well-formed, unless another version signed them. */
function readClaims(text: string): Signed | undefined {
  const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
  if (!isPlainObject(value) || typeof value['at'] !== 'number') return undefined;
  return TEXTS.every((name) => typeof value[name] === 'string') ? (value as unknown as Signed) : undefined;
}

const refused = (message: string): ServiceError => new ServiceError('forbidden', { message });

export interface GateParts {
  readonly key: Uint8Array;
  readonly installation: string;
  readonly clock: Pick<Clock, 'now'>;
}

export class RelayGate {
  /** Used nonces, until their signature expires; roughly in the order in which they expire. */
  readonly #used = new Map<string, number>();

  constructor(private readonly parts: GateParts) {}

  /** Errors: `forbidden`; `overloaded` if it cannot remember more nonces. */
  admit(header: string | undefined): RelayClaims {
    const { key, installation, clock } = this.parts;
    const [, text = '', signature = ''] = HEADER.exec(header ?? '') ?? [];
    if (!timingSafeEqual(signatureOf(key, text), sized(signature))) throw refused('Nodes only');
    const claims = readClaims(text);
    if (!claims || Math.abs(clock.now() - claims.at) > clockMs)
      throw refused('Signed too long ago, or by a clock that is wrong');
    if (claims.to !== installation) throw refused('Meant for another node: check NODE_URL');
    this.#use(claims);
    return claims;
  }

  #use({ nonce, at }: Signed): void {
    const now = this.parts.clock.now();
    for (const [old, until] of this.#used) {
      if (until >= now) break;
      this.#used.delete(old);
    }
    if (this.#used.has(nonce)) throw refused('Used already');
    if (this.#used.size >= MOST_NONCES) throw new ServiceError('overloaded', { retryAfter: 1 });
    this.#used.set(nonce, at + clockMs);
  }
}

/** Brings a signature to the length that is compared. */
const sized = (signature: string): Buffer => {
  const bytes = Buffer.from(signature, 'base64url');
  return bytes.length === 32 ? bytes : Buffer.alloc(32);
};
