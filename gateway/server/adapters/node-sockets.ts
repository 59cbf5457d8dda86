/** WebSockets of the `node` adapter: the framing of `ws`, pings, and the limit of frames of those who have not authenticated. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { LIMITS } from '../../../contracts/limits.js';
import { frameOf, type WireHandshake, type Wire, WIRE_FRAME_BYTES, WIRE_IDLE_SECONDS } from './adapter.js';

/** Counts the bytes that an unauthenticated client sends, in any frames, and ends its connection above the limit. */
function boundUnauthenticated(connection: Duplex, socket: WebSocket): () => void {
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.byteLength;
    if (bytes > LIMITS.unauthenticated.wireFrameBytes) socket.terminate();
  };
  connection.on('data', count);
  return () => void connection.off('data', count);
}

class NodeWire implements Wire {
  constructor(
    private readonly socket: WebSocket,
    private readonly flushed: () => void,
    readonly authenticated: () => void,
  ) {}

  get bufferedBytes(): number {
    return this.socket.bufferedAmount;
  }

  send(frame: string | Uint8Array): void {
    this.socket.send(frame, { binary: typeof frame !== 'string' }, this.flushed);
  }

  end(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }
}

/** WebSockets with `ws`, which only does the framing: handshakes have been decided on before. */
export class Upgrades {
  readonly #handshakes = new WeakMap<IncomingMessage, WireHandshake>();
  readonly #quiet = new Map<WebSocket, boolean>();
  readonly #pings: NodeJS.Timeout;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: WIRE_FRAME_BYTES,
    handleProtocols: (_offered, request) => this.#handshakes.get(request)?.protocol ?? false,
  });

  constructor() {
    this.#pings = setInterval(() => this.#ping(), (WIRE_IDLE_SECONDS / 2) * 1000).unref();
    this.#server.on('headers', (lines, request) => {
      for (const [name, value] of this.#handshakes.get(request)?.headers ?? [])
        lines.push(`${name}: ${value}`);
    });
  }

  /** Returns whether the handshake was completed: `ws` destroys the socket of a client that has ended its side already. */
  complete(request: IncomingMessage, socket: Duplex, rest: Buffer, handshake: WireHandshake): boolean {
    let isOpen = false;
    this.#handshakes.set(request, handshake);
    this.#server.handleUpgrade(request, socket, rest, (websocket) => {
      isOpen = true;
      const free = handshake.unauthenticated ? boundUnauthenticated(socket, websocket) : () => undefined;
      this.#opened(websocket, handshake, free);
    });
    return isOpen;
  }

  close(): void {
    clearInterval(this.#pings);
    for (const socket of this.#quiet.keys()) socket.terminate();
  }

  #opened(socket: WebSocket, handshake: WireHandshake, authenticated: () => void): void {
    this.#quiet.set(socket, false);
    const events = handshake.opened(new NodeWire(socket, () => events?.flushed(), authenticated));
    socket.on('message', (data: Buffer, isBinary) => {
      this.#quiet.set(socket, false);
      if (events.admits(data.byteLength)) events.message(frameOf(data, isBinary));
    });
    socket.on('pong', () => this.#quiet.set(socket, false));
    // `ws` closes the socket itself, with the right code.
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      this.#quiet.delete(socket);
      events.closed(code);
    });
  }

  #ping(): void {
    for (const [socket, quiet] of this.#quiet) {
      if (quiet) socket.terminate();
      else {
        this.#quiet.set(socket, true);
        socket.ping();
      }
    }
  }
}
