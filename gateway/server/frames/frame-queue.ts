/**
 * Frames of one socket, taken in order: while one is read in turns of the event loop, or the answer to one needs a look-up, later
 * frames wait.
 *
 * Invariants: one frame at a time; waiting frames are bounded by count and memory, and a frame beyond that is refused, not kept;
 * a large frame is charged while it is read; nothing is taken once the socket closes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTurnOver } from '../../../contracts/time/loop-turn.js';
import { AT_ONCE_BYTES } from '../bodies/structure.js';
import type { Socket } from '../port.js';
import { WaitingFrames } from './waiting-frames.js';

/** A text frame of more than AT_ONCE_BYTES, in UTF-8. */
export class LongText {
  constructor(readonly bytes: Buffer) {}

  get length(): number {
    return this.bytes.length;
  }
}

export type SocketFrame = string | Uint8Array | LongText;

const isLong = (frame: SocketFrame): boolean => typeof frame !== 'string' && frame.length > AT_ONCE_BYTES;

export interface FrameQueueEvents<Read> {
  /** Reads a frame; a promise if it is so large that this takes turns. Errors go to `failed`. */
  read(frame: SocketFrame): Read | Promise<Read>;
  /** Returns a promise if later frames must wait for what was read; it never rejects. Errors go to `failed`. */
  take(read: Read): Promise<void> | undefined;
  failed(error: unknown): void;
  /** A frame was dropped: too much waits already. */
  full(): void;
  /** A frame was dropped: there is no memory for it. */
  exhausted(): void;
}

export class FrameQueue<Read> {
  readonly #waiting: WaitingFrames<SocketFrame>;
  #busy = false;
  #cleared = false;

  constructor(
    private readonly socket: Pick<Socket, 'memory' | 'failed'>,
    private readonly events: FrameQueueEvents<Read>,
  ) {
    this.#waiting = new WaitingFrames(socket.memory('frame'));
  }

  push(frame: SocketFrame): void {
    if (this.#cleared) return;
    if (!this.#busy && frame.length <= AT_ONCE_BYTES) return this.#follow(this.#take(frame));
    const refused = this.#waiting.add(frame);
    if (refused) return this.events[refused]();
    if (!this.#busy) this.#follow(this.#takeNext());
  }

  /** Drops the waiting frames, since the socket closes. */
  clear(): void {
    this.#cleared = true;
    this.#waiting.clear();
  }

  /** Takes what waits once the frame that was taken is done. */
  #follow(taken: Promise<void> | undefined): void {
    if (!taken) return;
    this.#busy = true;
    void this.#drain(taken);
  }

  async #drain(taken: Promise<void>): Promise<void> {
    await this.#guarded(() => taken);
    while (!this.#waiting.isEmpty) {
      await this.#guarded(() => this.#takeNext());
      if (isTurnOver()) await nextTurn();
    }
    this.#busy = false;
  }

  /** Errors that the dialect did not expect end the socket. */
  async #guarded(task: () => Promise<void> | undefined): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.socket.failed(error);
    }
  }

  #takeNext(): Promise<void> | undefined {
    const frame = this.#waiting.next();
    if (frame === undefined) return undefined;
    try {
      const taken = isLong(frame) ? this.#takeInItsTurn(frame) : this.#take(frame);
      if (taken) return taken.finally(() => this.#free(frame));
    } catch (error) {
      this.#free(frame);
      throw error;
    }
    this.#free(frame);
    return undefined;
  }

  /** Not in the turn in which it arrived: copying it has taken its time already. */
  async #takeInItsTurn(frame: SocketFrame): Promise<void> {
    await nextTurn();
    if (!this.#cleared) await this.#take(frame);
  }

  #free(frame: SocketFrame): void {
    if (!this.#cleared) this.#waiting.free(frame);
  }

  #take(frame: SocketFrame): Promise<void> | undefined {
    try {
      const read = this.events.read(frame);
      return read instanceof Promise ? this.#takeLater(read) : this.events.take(read);
    } catch (error) {
      this.events.failed(error);
      return undefined;
    }
  }

  async #takeLater(reading: Promise<Read>): Promise<void> {
    try {
      const read = await reading;
      if (!this.#cleared) await this.events.take(read);
    } catch (error) {
      if (!this.#cleared) this.events.failed(error);
    }
  }
}
