/**
 * Opens the transport of one gateway's sessions: embedded, or livekit if a server is configured. Conversations are the same in
 * both.
 */
import { embeddedWebrtcTransport } from './embedded.js';
import { livekitTransport } from './livekit.js';
import type { OpenTransport, TransportOptions } from './parts.js';

export async function openTransport(options: TransportOptions): Promise<OpenTransport> {
  const { livekit: server } = options.config;
  return server ? livekitTransport(server, options) : embeddedWebrtcTransport(options);
}
