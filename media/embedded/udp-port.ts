/** The UDP port of a media worker: the wanted one if it is free, otherwise any; held from the worker's start. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { IceUdpMuxListener } from 'node-datachannel';

/** Binds and releases a port; undefined if it is in use. Errors: if the address cannot be bound at all. */
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

/** The wanted port or, if it is 0 or in use, any free one. A second gateway on a machine finds the first one's port in use. */
export async function freePort(wanted: number, address?: string): Promise<number> {
  return (await tryPort(wanted, address)) ?? freePort(0, address);
}

/** Referenced here, as a listener without references releases its port. */
const held: IceUdpMuxListener[] = [];

/** Holds the port with the library's listener, with which its connections share it; false if the port was taken meanwhile. */
function hold(port: number, address: string | undefined): boolean {
  try {
    held.push(address === undefined ? new IceUdpMuxListener(port) : new IceUdpMuxListener(port, address));
    return true;
  } catch {
    return false;
  }
}

/**
 * Takes a port for good. Otherwise the library would hold it only during calls, and two gateways with the same port
 * would notice only at the first call. Errors: if the address cannot be bound at all.
 */
export async function holdPort(wanted: number, address?: string): Promise<number> {
  const port = await freePort(wanted, address);
  return hold(port, address) ? port : holdPort(0, address);
}
