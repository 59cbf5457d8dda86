/**
 * Frames of one socket, taken in order: while one is read in turns of the event loop, or the answer to one needs a look-up, later
 * frames wait. So do those of a burst, since the binding hands over thousands of small ones in one turn.
 *
 * Invariants: one frame at a time; waiting frames are bounded by count and memory, and a frame beyond that is refused, not kept;
 * a large frame is charged while it is read; nothing is taken once the socket closes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIMITS } from '../../../contracts/limits.js';
import { type MemoryShare, pieceOf } from '../../../contracts/ports/accounts/memory.js';
import { isTurnOver, turnNumber } from '../../../contracts/time/loop-turn.js';
import { AT_ONCE_BYTES } from '../bodies/structure.js';
import type { Socket } from '../port.js';

/** A text frame of more than AT_ONCE_BYTES, in UTF-8. */
export class LongText {
  constructor(readonly bytes: Buffer) {}

  get length(): number {
    return this.bytes.length;
  }
}

export type Frame = string | Uint8Array | LongText;

const { frames: MOST_FRAMES, bytes: MOST_BYTES } = LIMITS.socket.waiting;

/** Frames of a socket that are always taken in the turn in which they arrive: more than audio has that comes in time. */
const TAKEN_AT_ONCE = 8;

/** A character for which each one of its string takes two bytes. */
const WIDE = /[^\0-\xff]/;

const memoryOf = (frame: Frame): number =>
  pieceOf(typeof frame === 'string' && WIDE.test(frame) ? 2 * frame.length : frame.length);

const isLong = (frame: Frame): boolean => typeof frame !== 'string' && frame.length > AT_ONCE_BYTES;

export interface FrameQueueEvents<Read> {
  /** Reads a frame; a promise if it is so large that this takes turns. Errors go to `failed`. */
  read(frame: Frame): Read | Promise<Read>;
  /** Returns a promise if later frames must wait for what was read; it never rejects. Errors go to `failed`. */
  take(read: Read): Promise<void> | undefined;
  failed(error: unknown): void;
  /** A frame was dropped: too much waits already. */
  full(): void;
  /** A frame was dropped: there is no memory for it. */
  exhausted(): void;
}

export class FrameQueue<Read> {
  #waiting: Frame[] = [];
  /** Index of the oldest waiting frame. */
  #next = 0;
  #size = 0;
  #busy = false;
  /** The turn in which frames were pushed last, and how many of them. */
  #turn = -1;
  #inTurn = 0;
  #cleared = false;

  readonly #share: MemoryShare;

  constructor(
    private readonly socket: Pick<Socket, 'memory' | 'failed'>,
    private readonly events: FrameQueueEvents<Read>,
  ) {
    this.#share = socket.memory('frame');
  }

  push(frame: Frame): void {
    if (this.#cleared) return;
    const isBurst = this.#isBurst();
    if (!this.#busy && !isBurst && frame.length <= AT_ONCE_BYTES) return this.#follow(this.#take(frame));
    const memory = memoryOf(frame);
    if (this.#waiting.length - this.#next >= MOST_FRAMES || this.#size + memory > MOST_BYTES)
      return this.events.full();
    if (!this.#share.charge(memory)) return this.events.exhausted();
    this.#waiting.push(frame);
    this.#size += memory;
    if (!this.#busy) this.#follow(isBurst ? nextTurn() : this.#takeNext());
  }

  /** Whether this socket had its share of this turn. */
  #isBurst(): boolean {
    const turn = turnNumber();
    this.#inTurn = turn === this.#turn ? this.#inTurn + 1 : 1;
    this.#turn = turn;
    return this.#inTurn > TAKEN_AT_ONCE && isTurnOver();
  }

  /** Drops the waiting frames, since the socket closes. */
  clear(): void {
    this.#cleared = true;
    this.#waiting = [];
    this.#next = 0;
  }

  /** Takes what waits once the frame that was taken is done. */
  #follow(taken: Promise<void> | undefined): void {
    if (!taken) return;
    this.#busy = true;
    void this.#drain(taken);
  }

  async #drain(taken: Promise<void>): Promise<void> {
    await this.#guarded(() => taken);
    while (this.#next < this.#waiting.length) {
      await this.#guarded(() => this.#takeNext());
      if (isTurnOver()) await nextTurn();
    }
    this.#waiting = [];
    this.#next = 0;
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
    const frame = this.#waiting[this.#next];
    if (frame === undefined) return undefined;
    // Its place stays, but what it holds does not.
    this.#waiting[this.#next] = '';
    this.#next += 1;
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
  async #takeInItsTurn(frame: Frame): Promise<void> {
    await nextTurn();
    if (!this.#cleared) await this.#take(frame);
  }

  #free(frame: Frame): void {
    const memory = memoryOf(frame);
    this.#size -= memory;
    if (!this.#cleared) this.#share.release(memory);
  }

  #take(frame: Frame): Promise<void> | undefined {
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
