/**
 * Sockets that are opened before they are needed, for whoever waits on the line: the next sentence of a call does not wait for a handshake.
 * At most one for each request that is alike, and a few in all; each is used once, or ends after a while.
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { RemoteAddress } from './request.js';
import { RemoteSocket, type SocketRequest } from './socket.js';

interface Spare {
  readonly socket: Promise<RemoteSocket | undefined>;
  readonly timer: NodeJS.Timeout;
  readonly ending: AbortController;
}

const keyOf = ({ url }: RemoteAddress, { path }: SocketRequest): string => `${url} ${path}`;

export class SpareSockets {
  readonly #spares = new Map<string, Spare>();

  /** One that is open already; undefined if there is none. It ends with `signal`. */
  async take(
    address: RemoteAddress,
    request: SocketRequest,
    signal: AbortSignal,
  ): Promise<RemoteSocket | undefined> {
    const key = keyOf(address, request);
    const spare = this.#spares.get(key);
    if (!spare) return undefined;
    this.#spares.delete(key);
    clearTimeout(spare.timer);
    const socket = await spare.socket;
    if (!socket?.isOpen) return undefined;
    socket.follow(signal);
    return socket;
  }

  /** Opens one, unless there is one. Never fails: whoever finds none opens it then, and learns why that fails. */
  prepare(address: RemoteAddress, request: SocketRequest): void {
    const key = keyOf(address, request);
    if (this.#spares.has(key) || this.#spares.size >= LIMITS.remote.spareSockets.most) return;
    const ending = new AbortController();
    const socket = RemoteSocket.open(address, request, ending.signal).catch(() => undefined);
    const drop = (): void => {
      this.#spares.delete(key);
      ending.abort();
    };
    const timer = setTimeout(drop, LIMITS.remote.spareSockets.ms).unref();
    this.#spares.set(key, { socket, timer, ending });
  }
}
