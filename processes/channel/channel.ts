/**
 * One connection between a caller and a child: frames both ways, an answer to every ping, and one end.
 *
 * Invariants: `closed` is called exactly once, and no frame comes after it; anything but a frame of this
 * protocol closes this connection and nothing else.
 */
import type { Socket } from 'node:net';
import { FrameReader, KIND, type ChannelFrame } from './frames.js';
import { Outbox } from './outbox.js';

export interface ChannelEvents {
  /** A frame and its length in bytes. A throw closes the connection. Pings are answered before. */
  frame(frame: ChannelFrame, bytes: number): void;
  /** The connection has ended; `error` unless in an orderly way. */
  closed(error: Error | undefined): void;
}

export class Channel {
  readonly #socket: Socket;
  readonly #events: ChannelEvents;
  readonly #outbox: Outbox;
  #closed = false;
  /** Whether sending has ended. */
  #ended = false;
  #heard = 0;

  /** Takes over a connected socket. */
  constructor(socket: Socket, events: ChannelEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#outbox = new Outbox(socket);
    const reader = new FrameReader((frame, bytes) => this.#receive(frame, bytes));
    socket.on('data', (chunk: Buffer) => this.#guarded(() => reader.push(chunk)));
    socket.on('error', (error) => this.close(error));
    socket.on('close', () => this.close());
  }

  /** Frames received so far; it grows as long as the other side lives. */
  get heard(): number {
    return this.#heard;
  }

  /** Sends a frame before all waiting data. Returns its length in bytes. */
  control(...frame: ChannelFrame): number {
    return this.#ended ? 0 : this.#outbox.control(frame);
  }

  /** Sends a frame behind all data before it. Returns its length in bytes. */
  data(...frame: ChannelFrame): number {
    return this.#ended ? 0 : this.#outbox.data(frame);
  }

  /** Ends the connection once everything sent is written; drops later frames. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#outbox.end();
  }

  /** Cuts the connection. Idempotent. */
  close(error?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ended = true;
    this.#socket.destroy();
    this.#events.closed(error);
  }

  #receive(frame: ChannelFrame, bytes: number): void {
    if (this.#closed) return;
    this.#heard += 1;
    if (frame[0] === KIND.ping) this.control(KIND.pong, 0);
    else this.#events.frame(frame, bytes);
  }

  #guarded(task: () => void): void {
    try {
      task();
    } catch (error) {
      this.close(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
