/**
 * Cross-origin access. Any page may call, since nothing here relies on cookies: `*` without credentials.
 * The platform dialect itself checks which origins may start a public agent's session.
 */
import type { ReplyHead } from './adapters/adapter.js';

type HeaderList = ReplyHead['headers'];

const EXPOSED =
  'X-Generation-Id, Retry-After, Location, request-id, x-request-id, history-item-id, character-cost, WWW-Authenticate';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const MAX_AGE_SECONDS = '7200';
const REQUESTED = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/;

const ACTUAL: HeaderList = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', EXPOSED],
];

/** Headers of a reply to a cross-origin request. */
export const corsHeaders = (request: ReadonlyMap<string, string>): HeaderList =>
  request.has('origin') ? ACTUAL : [];

export const isPreflight = (method: string, request: ReadonlyMap<string, string>): boolean =>
  method === 'OPTIONS' && request.has('origin') && request.has('access-control-request-method');

/** Further headers of the reply to a preflight, in addition to `corsHeaders`. */
export function preflightHeaders(request: ReadonlyMap<string, string>): Record<string, string> {
  const requested = request.get('access-control-request-headers') ?? '';
  return {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': REQUESTED.test(requested) ? requested : '*, Authorization',
    'Access-Control-Max-Age': MAX_AGE_SECONDS,
    Vary: 'Access-Control-Request-Headers',
  };
}
