/**
 * Tokens with which we ask a LiveKit server, and join its rooms as agents: JSON Web Tokens (RFC 7519). Those that the server's library makes
 * count from now on by our clock, so that a server whose clock is a minute behind refuses them. These say only until when they
 * count, which is far enough away for a clock of ours that is behind.
 */
import { createHmac, type KeyObject } from 'node:crypto';
import { systemClock } from '../../contracts/clock.js';

/** What a LiveKit server and we both know. */
export interface ServerKey {
  /** Its name. */
  readonly key: string;
  readonly secret: string;
}

const HOUR_SECONDS = 3600;

const part = (text: string): string => Buffer.from(text).toString('base64url');
const HEADER = part('{"alg":"HS256"}');

/** Signs claims. The libraries for it sign in other threads, which takes twenty times as long. */
export function signedToken(claims: object, key: KeyObject | string): string {
  const text = `${HEADER}.${part(JSON.stringify(claims))}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

/** `claims`: grants in LiveKit's words, and whom they are for. */
export const serverToken = ({ key: iss, secret }: ServerKey, claims: object, hours = 1): string => {
  const exp = Math.ceil(systemClock.now() / 1000) + hours * HOUR_SECONDS;
  return signedToken({ iss, exp, ...claims }, secret);
};

/** For all that we ask about rooms, or about that one. */
export const roomToken = (server: ServerKey, room = ''): string =>
  serverToken(server, { video: { roomCreate: true, roomList: true, roomAdmin: true, room } });

/** For all that we ask about telephones, and about that room. */
export const sipToken = (server: ServerKey, room = ''): string =>
  serverToken(server, { sip: { admin: true, call: true }, video: { roomAdmin: true, room } });
