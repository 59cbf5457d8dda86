/**
 * The WebSockets of a server above the adapters: their handshakes, those that are open, those that wait to be authenticated
 * (docs/contract/limits.md). Each is a connection (socket-connection.ts).
 */
import type { CloseReason } from '../../contracts/close-codes.js';
import { eachInTurns } from '../../contracts/time/loop-turn.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Arrival, Wire, WireEvents } from './adapters/adapter.js';
import type { HttpRequest, Reply, SocketAccept } from './port.js';
import { GENERATION_ID } from './reply-head.js';
import { SocketConnection, type Surroundings } from './socket-connection.js';
import { WaitingPool } from './waiting-pool.js';

export const isAccept = (decision: SocketAccept | { readonly refuse: Reply }): decision is SocketAccept =>
  !('refuse' in decision);

export class SocketHost {
  readonly #open = new Set<SocketConnection>();
  readonly #unauthenticated: WaitingPool;
  /** Of those whose handshake was proven, by number or call. */
  readonly #proven: WaitingPool;

  /** `ended` is called for each connection that has closed. */
  constructor(
    private readonly around: Surroundings,
    private readonly ended: () => void,
  ) {
    this.#unauthenticated = new WaitingPool(LIMITS.unauthenticated.sockets, around.clock);
    this.#proven = new WaitingPool(LIMITS.unauthenticated.provenSockets, around.clock);
    around.metrics.gauge('open_sockets', 'Open WebSockets', () => this.#open.size);
    around.metrics.gauge(
      'unauthenticated_sockets',
      'Open WebSockets that are not authenticated yet',
      () => this.#unauthenticated.size + this.#proven.size,
    );
    around.metrics.gauge('egress_queue_bytes', 'Bytes queued for WebSocket clients', () => this.queuedBytes);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Number of sockets that last as long as their call, which may be another node's. */
  get ofCalls(): number {
    return [...this.#open].filter(({ isOfCall }) => isOfCall).length;
  }

  get queuedBytes(): number {
    let bytes = 0;
    for (const connection of this.#open) bytes += connection.queuedBytes;
    return bytes;
  }

  /** Whether there is room for a socket of that client. */
  admits(accept: SocketAccept, { clientAddress }: Pick<HttpRequest, 'clientAddress'>): boolean {
    return accept.unauthenticated !== true || this.#poolOf(accept).hasRoom(accept.provenAs ?? clientAddress);
  }

  #poolOf({ provenAs }: SocketAccept): WaitingPool {
    return provenAs === undefined ? this.#unauthenticated : this.#proven;
  }

  /** Completes the handshake of `arrival`, which must have one. */
  open(
    arrival: Arrival,
    accept: SocketAccept,
    offered: readonly string[],
    request: Pick<HttpRequest, 'generationId' | 'clientAddress'>,
  ): void {
    const { generationId } = request;
    const unauthenticated = accept.unauthenticated === true;
    const protocol = offered.find((name) => name === accept.protocol);
    arrival.upgrade?.({
      protocol,
      headers: [[GENERATION_ID, generationId], ...Object.entries(accept.headers ?? {})],
      unauthenticated,
      opened: (wire) => this.#opened(wire, accept, request),
    });
  }

  /** `which`: default all. */
  async closeAll(
    reason: CloseReason,
    which: (socket: { readonly isOfCall: boolean }) => boolean = () => true,
  ): Promise<void> {
    await eachInTurns([...this.#open].filter(which), (connection) => connection.close(reason));
  }

  async terminateAll(): Promise<void> {
    await eachInTurns(this.#open, (connection) => connection.terminate());
  }

  #opened(
    wire: Wire,
    accept: SocketAccept,
    { generationId, clientAddress }: Pick<HttpRequest, 'generationId' | 'clientAddress'>,
  ): WireEvents {
    const connection = new SocketConnection(
      wire,
      accept,
      { generationId, clientAddress },
      this.around,
      () => {
        this.#open.delete(connection);
        this.ended();
      },
    );
    this.#open.add(connection);
    if (accept.unauthenticated === true) {
      const holder = accept.provenAs ?? clientAddress;
      connection.wait(this.#poolOf(accept).enter(holder, () => connection.terminate()));
    }
    connection.start();
    return connection;
  }
}
