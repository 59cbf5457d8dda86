/**
 * A second UDP port of a media worker, for browsers that reach us only by a TURN server over TCP or TLS: their checks are repaired
 * (stun-check.ts) and go on to the library's port, everything else unread in both directions. The library sees each of these
 * clients at an address of its own on this machine.
 *
 * Invariants: only who has signed a check with a call's password gets a way to the library; all others are not answered, so that
 * clients whose checks need no repair never come this way; a call takes its ways with it.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import { repairedCheck } from './stun-check.js';

const { perConnection: MOST_OF_ONE, relayed } = LIMITS.ice;
const { ways: MOST_WAYS, idleMs: IDLE_MS } = relayed;

/** A client's way, from the address of its relay to the library. */
interface Way {
  readonly fragment: string;
  readonly socket: Socket;
  /** When the client was last heard, in monotonic milliseconds. */
  heardAt: number;
}

export interface RelayedPortParts {
  /** Wanted port; 0 takes any. */
  readonly wanted: number;
  readonly bind: string | undefined;
  /** The library's port, at the same address. */
  readonly to: number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EADDRINUSE';

/** Binds the wanted port or, if it is in use, any free one. Errors: if the address cannot be bound at all. */
async function bound(wanted: number, address: string | undefined): Promise<Socket> {
  const socket = createSocket('udp4');
  try {
    socket.bind(wanted, address);
    await once(socket, 'listening');
    return socket;
  } catch (error) {
    socket.close();
    if (wanted === 0 || !isTaken(error)) throw error;
    return bound(0, address);
  }
}

/** `candidate:… 1 UDP <priority> <address> <port> typ host …` of this port, as the last choice. */
export function behind(line: string, port: number): string {
  const fields = line.split(' ');
  // The lowest preference of its kind and of its address (RFC 8445, 5.1.2.1).
  [fields[0], fields[3], fields[5]] = [`${fields[0] ?? ''}9`, '255', String(port)];
  return fields.join(' ');
}

export class RelayedPort {
  /** The password of each fragment of our side that clients may come for. */
  readonly #passwords = new Map<string, string>();
  /** By the address of the client's relay. */
  readonly #ways = new Map<string, Way>();

  private constructor(
    private readonly socket: Socket,
    private readonly parts: RelayedPortParts,
  ) {
    socket.on('message', (message, from) => this.#take(message, from));
    socket.on('error', () => undefined);
  }

  /** Errors: if the address cannot be bound at all. */
  static async open(parts: RelayedPortParts): Promise<RelayedPort> {
    return new RelayedPort(await bound(parts.wanted, parts.bind), parts);
  }

  get port(): number {
    return this.socket.address().port;
  }

  /** Clients that are on a way. */
  get size(): number {
    return this.#ways.size;
  }

  /** Lets the clients of a connection in, until the result is called. */
  admit(fragment: string, password: string): () => void {
    this.#passwords.set(fragment, password);
    return () => {
      this.#passwords.delete(fragment);
      for (const [from, way] of this.#ways) if (way.fragment === fragment) this.#end(from, way);
    };
  }

  close(): void {
    for (const [from, way] of this.#ways) this.#end(from, way);
    this.socket.close();
  }

  #take(message: Buffer, remote: RemoteInfo): void {
    const from = `${remote.address} ${remote.port}`;
    const check = repairedCheck(message, this.#passwords);
    const way = check ? this.#wayOf(check.fragment, from, remote) : this.#ways.get(from);
    if (!way) return;
    way.heardAt = this.parts.clock.monotonic();
    way.socket.send(check?.message ?? message, this.parts.to, this.#library);
  }

  /** A relay that now has another client gets a new way. */
  #wayOf(fragment: string, from: string, remote: RemoteInfo): Way | undefined {
    const known = this.#ways.get(from);
    if (known?.fragment === fragment) return known;
    if (known) this.#end(from, known);
    else if (!this.#hasRoom(fragment)) return undefined;
    const socket = createSocket('udp4');
    const way = { fragment, socket, heardAt: 0 };
    socket.on('message', (message, { address, port }) => {
      const isOurs = port === this.parts.to && address === this.#library;
      if (isOurs) this.socket.send(message, remote.port, remote.address);
    });
    socket.bind(0, this.#library);
    // Its datagrams are lost, as any may be.
    socket.on('error', () => undefined);
    this.#ways.set(from, way);
    return way;
  }

  get #library(): string {
    const { bind = '0.0.0.0' } = this.parts;
    return bind === '0.0.0.0' ? '127.0.0.1' : bind;
  }

  /** Ways of clients that are gone are closed when somebody needs one; one client has only as many as addresses of its own. */
  #hasRoom(fragment: string): boolean {
    const own = [...this.#ways.values()].filter((way) => way.fragment === fragment);
    if (own.length >= MOST_OF_ONE) return false;
    const since = this.parts.clock.monotonic() - IDLE_MS;
    if (this.#ways.size >= MOST_WAYS)
      for (const [from, way] of this.#ways) if (way.heardAt < since) this.#end(from, way);
    return this.#ways.size < MOST_WAYS;
  }

  #end(from: string, { socket }: Way): void {
    this.#ways.delete(from);
    socket.close();
  }
}
