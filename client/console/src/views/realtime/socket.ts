/**
 * The socket of a realtime session (docs/contract/protocol-a.md 5). Browsers cannot set headers on sockets, so it is opened
 * with a client secret, which allows little else and expires by itself.
 */
import { addressOf, ask } from '../../api.js';
import { texts } from '../../texts.js';

/** Lifetime of the secret; when it expires, sockets that it has opened stay open. */
const SECRET_SECONDS = 60;

const KEY_PROTOCOL = 'openai-insecure-api-key';

function socketAddress(): URL {
  const address = addressOf('v1/realtime');
  address.protocol = address.protocol.replace('http', 'ws');
  return address;
}

/** `session` as in `session.update`. Resolves when the socket is open. Errors: Refusal; the signal's abort reason. */
export async function openSocket(session: object, signal: AbortSignal): Promise<WebSocket> {
  const body = { session, expires_after: { anchor: 'created_at', seconds: SECRET_SECONDS } };
  const { value } = await ask<{ readonly value: string }>('v1/realtime/client_secrets', { body, signal });
  const socket = new WebSocket(socketAddress(), ['realtime', `${KEY_PROTOCOL}.${value}`]);
  signal.addEventListener('abort', () => socket.close(), { once: true });
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onclose = () => reject(new Error(texts.realtime.noSocket));
  });
  return socket;
}
