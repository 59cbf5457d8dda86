/**
 * Frames of one socket on their way to its dialect. They pass at once, until those of its workspace have had their share of one turn of
 * the event loop (frame-turns.ts): one read of the stack brings up to 24,000 small ones, which would hold the loop for a second. What is
 * left waits for later turns, and so does everything behind a large frame that is still being copied.
 *
 * Invariants: frames pass in the order in which they came; waiting ones are bounded and charged (waiting-frames.ts); nothing passes once
 * the socket closes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MemoryShare } from '../../../contracts/ports/accounts/memory.js';
import { isTurnOver, type TurnShare } from '../../../contracts/time/loop-turn.js';
import { type SocketFrame, LongText } from './frame-queue.js';
import { LandedFrame } from './landing.js';
import { WaitingFrames } from './waiting-frames.js';

export interface IngressEvents {
  /** The share of its workspace, which may be known later than the socket. */
  turn(): Pick<TurnShare, 'isOver'>;
  /** Never throws. */
  take(frame: SocketFrame): void;
  /** A frame was dropped: too much waits already. */
  full(): void;
  /** A frame was dropped: there is no memory for it. */
  exhausted(): void;
}

export class IngressQueue {
  readonly #waiting: WaitingFrames<SocketFrame | LandedFrame>;
  #isBusy = false;
  #isCleared = false;

  constructor(
    share: MemoryShare,
    private readonly events: IngressEvents,
  ) {
    this.#waiting = new WaitingFrames(share);
  }

  push(frame: SocketFrame | LandedFrame): void {
    if (this.#isCleared) return;
    const passes = !this.#isBusy && !(frame instanceof LandedFrame) && !this.events.turn().isOver;
    if (passes) return this.events.take(frame);
    const refused = this.#waiting.add(frame);
    if (refused) return this.events[refused]();
    if (!this.#isBusy) void this.#drain();
  }

  /** Whether a frame of at most PACKED_BYTES cannot pass now: it is copied if it waits, as its bytes are lent for this call. */
  holds(bytes: ArrayBuffer, isText: boolean): boolean {
    if (this.#isCleared) return true;
    if (!this.#isBusy && !this.events.turn().isOver) return false;
    const refused = this.#waiting.addLent(new Uint8Array(bytes), isText);
    if (refused) this.events[refused]();
    else if (!this.#isBusy) void this.#drain();
    return true;
  }

  /** Drops the waiting frames, since the socket closes. */
  clear(): void {
    this.#isCleared = true;
    this.#waiting.clear();
  }

  async #drain(): Promise<void> {
    this.#isBusy = true;
    await nextTurn();
    for (let frame = this.#waiting.next(); frame !== undefined; frame = this.#waiting.next()) {
      const own = frame instanceof LandedFrame ? await owned(frame) : frame;
      if (this.#isCleared) return;
      this.#waiting.free(frame);
      this.events.take(own);
      // They have waited already: now they share the turn with all that waits.
      if (isTurnOver()) await nextTurn();
    }
    this.#isBusy = false;
  }
}

const owned = async ({ bytes, isText }: LandedFrame): Promise<SocketFrame> =>
  isText ? new LongText(await bytes) : await bytes;
