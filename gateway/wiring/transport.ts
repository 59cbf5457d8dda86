/**
 * Opens the transport of one gateway's sessions: embedded, or livekit if a server is configured. Conversations are the same in
 * both.
 */
import { embeddedTransport } from './embedded-transport.js';
import { livekitTransport } from './livekit-transport.js';
import type { OpenTransport, TransportOptions } from './transport-parts.js';

export async function openTransport(options: TransportOptions): Promise<OpenTransport> {
  const { livekit: server } = options.config;
  return server ? livekitTransport(server, options) : embeddedTransport(options);
}
