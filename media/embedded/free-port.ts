/** The UDP port of a media worker: the one that is wanted where it is free, else any. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Binds and lets go again; undefined where somebody has it. Errors: where the address cannot be bound at all. */
async function tryPort(wanted: number, address: string | undefined): Promise<number | undefined> {
  const socket = createSocket('udp4');
  try {
    socket.bind(wanted, address);
    await once(socket, 'listening');
    return socket.address().port;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  } finally {
    socket.close();
  }
}

/** `wanted` 0: whichever is free. A second gateway on one machine finds the first one's port taken. */
export async function freePort(wanted: number, address?: string): Promise<number> {
  return (await tryPort(wanted, address)) ?? freePort(0, address);
}
