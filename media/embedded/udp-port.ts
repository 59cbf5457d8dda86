/** The UDP port of a media worker: the one that is wanted where it is free, else any; held from its start on. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { IceUdpMuxListener } from 'node-datachannel';

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

/** Whoever is no longer referred to lets go of its port. */
const held: IceUdpMuxListener[] = [];

/** The library's own listener, beside which its connections share the port; false where somebody was quicker. */
function hold(port: number, address: string | undefined): boolean {
  try {
    held.push(address === undefined ? new IceUdpMuxListener(port) : new IceUdpMuxListener(port, address));
    return true;
  } catch {
    return false;
  }
}

/**
 * Takes a port for good. Without that the library has it only while there are calls, and two gateways that are given
 * the same one would notice at the first call. Errors: where the address cannot be bound at all.
 */
export async function holdPort(wanted: number, address?: string): Promise<number> {
  const port = await freePort(wanted, address);
  return hold(port, address) ? port : holdPort(0, address);
}
