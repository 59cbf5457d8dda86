/**
 * The WebSockets of a server above the adapters: their handshakes, those that are open, those that wait to be authenticated
 * (docs/contract/limits.md). Each is a connection (socket-connection.ts).
 */
import type { CloseReason } from '../../contracts/close-codes.js';
import { eachInTurns } from '../../contracts/time/loop-turn.js';
import type { Arrival, Wire, WireEvents } from './adapters/adapter.js';
import { FrameTurns } from './frames/frame-turns.js';
import type { HttpRequest, Reply, SocketAccept } from './port.js';
import { GENERATION_ID } from './reply-head.js';
import { type Handshake, type InCommon, SocketConnection } from './socket-connection.js';
import { SocketDoor } from './socket-door.js';

export const isAccept = (decision: SocketAccept | { readonly refuse: Reply }): decision is SocketAccept =>
  !('refuse' in decision);

export class SocketHost {
  readonly #open = new Set<SocketConnection>();
  readonly door: SocketDoor;
  readonly #inCommon: InCommon;

  /** `ended` is called for each connection that has closed. */
  constructor(
    around: Omit<InCommon, 'turns' | 'brake'>,
    private readonly ended: () => void,
  ) {
    this.door = new SocketDoor(around.clock);
    this.#inCommon = { ...around, turns: new FrameTurns(), brake: this.door.brake };
    around.metrics.gauge('open_sockets', 'Open WebSockets', () => this.#open.size);
    around.metrics.gauge(
      'unauthenticated_sockets',
      'Open WebSockets that are not authenticated yet',
      () => this.door.waiting,
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

  /** Completes the handshake of `arrival`, which must have one. */
  open(
    arrival: Arrival,
    accept: SocketAccept,
    offered: readonly string[],
    { generationId, clientAddress }: Pick<HttpRequest, 'generationId' | 'clientAddress'>,
    holder: string,
  ): void {
    const unauthenticated = accept.unauthenticated === true;
    const protocol = offered.find((name) => name === accept.protocol);
    arrival.upgrade?.({
      protocol,
      headers: [[GENERATION_ID, generationId], ...Object.entries(accept.headers ?? {})],
      unauthenticated,
      opened: (wire) => this.#opened(wire, accept, { generationId, clientAddress, holder }),
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

  #opened(wire: Wire, accept: SocketAccept, handshake: Handshake): WireEvents {
    const connection = new SocketConnection(wire, accept, handshake, this.#inCommon, () => {
      this.#open.delete(connection);
      this.ended();
    });
    this.#open.add(connection);
    if (accept.unauthenticated === true)
      connection.wait(this.door.enter(accept, handshake.clientAddress, () => connection.terminate()));
    connection.start();
    return connection;
  }
}
