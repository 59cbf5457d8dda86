/** What a WebSocket handshake must have besides what the stack has checked. */
import { ServiceError } from '../../contracts/errors.js';
import type { Arrival } from './adapters/adapter.js';

const TOKENS = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(, *[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/;
const HANDSHAKE_KEY = /^[+/0-9A-Za-z]{22}==$/;

const refuse = (message: string): never => {
  throw new ServiceError('invalid_request', { message });
};

/** The subprotocols that the client offered. Errors: `invalid_request` if the handshake is malformed. */
export function offeredProtocols({
  head: { headers },
  upgrade,
}: Pick<Arrival, 'head' | 'upgrade'>): readonly string[] {
  if (!HANDSHAKE_KEY.test(headers.get('sec-websocket-key') ?? '')) refuse('Malformed Sec-WebSocket-Key');
  if (headers.get('sec-websocket-version') !== '13') refuse('Sec-WebSocket-Version must be 13');
  // Seen behind a proxy that forwards only one of the two headers.
  if (!upgrade) refuse('A WebSocket handshake needs the header "Connection: Upgrade"');
  const offered = headers.get('sec-websocket-protocol');
  if (offered === undefined) return [];
  if (!TOKENS.test(offered)) refuse('Malformed Sec-WebSocket-Protocol');
  return offered.split(/, */);
}
