/**
 * Checks the address and ports of media before anything starts: a media worker that cannot bind its port would be started
 * again for ever.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mediaPorts } from '../agents/calls/media-settings.js';
import { type Config, ConfigError } from '../config.js';

const LAST_PORT = 65_535;

async function checkHost(host: string): Promise<void> {
  const socket = createSocket('udp4');
  try {
    socket.bind(0, host);
    await once(socket, 'listening');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`MEDIA_HOST: ${host} is not an IPv4 address of this machine (${code})`, { cause });
  } finally {
    socket.close();
  }
}

/** Errors: `ConfigError` naming the variable. */
export async function checkMedia(
  config: Pick<Config, 'mediaHost' | 'mediaUdpPort' | 'mediaProcesses' | 'iceServers'>,
): Promise<void> {
  const { mediaHost, mediaUdpPort } = config;
  const ports = mediaPorts(config);
  if (mediaUdpPort + ports - 1 > LAST_PORT)
    throw new ConfigError(
      `MEDIA_UDP_PORT must leave ${ports} ports up to ${LAST_PORT} (MEDIA_PROCESSES, twice with TURN over TCP or TLS)`,
    );
  if (mediaHost !== undefined) await checkHost(mediaHost);
}
