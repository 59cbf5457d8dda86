/**
 * A user's audio on its way to the worker, which hears it as fast as it was spoken: some clients send a whole recording at once. What
 * waits is charged.
 *
 * Invariants: order is kept, of audio and of what is done after it; at most `AHEAD_MS` are with the worker before they are due.
 */
import type { Clock } from '../../../contracts/clock.js';
import { type MemoryShare, pieceOf } from '../../../contracts/ports/accounts/memory.js';

/** A worker takes up to three seconds, of which half a second is for the silence behind a turn. */
const AHEAD_MS = 1500;
const STEP_MS = 100;

type Step = Uint8Array | (() => void);

export class PacedAudio {
  #waiting: Step[] = [];
  #bytes = 0;
  /** When the audio that was sent will have been spoken, by the clock. */
  #until = 0;
  #stop: (() => void) | undefined;

  constructor(
    private readonly bytesPerMs: number,
    private readonly share: MemoryShare,
    private readonly clock: Pick<Clock, 'monotonic' | 'after'>,
    private readonly send: (audio: Uint8Array) => void,
  ) {}

  /** Bytes of audio that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** False if there is no memory for it. */
  push(audio: Uint8Array): boolean {
    if (this.#waiting.length === 0 && this.#isDue) {
      this.#pass(audio);
      return true;
    }
    if (!this.#charge(audio)) return false;
    this.#waiting.push(audio);
    this.#go();
    return true;
  }

  /** Does that once all audio before it was sent. */
  then(work: () => void): void {
    this.#waiting.push(work);
    this.#go();
  }

  /** Drops the audio that waits. */
  clear(): void {
    for (const step of this.#waiting.splice(0)) if (typeof step !== 'function') this.#free(step);
    this.#stop?.();
    this.#stop = undefined;
  }

  get #isDue(): boolean {
    return this.#until - this.clock.monotonic() < AHEAD_MS;
  }

  #go(): void {
    while (this.#waiting.length > 0 && (typeof this.#waiting[0] === 'function' || this.#isDue)) {
      const step = this.#waiting.shift()!;
      if (typeof step === 'function') step();
      else this.#cut(step);
    }
    if (this.#waiting.length === 0 || this.#stop) return;
    this.#stop = this.clock.after(STEP_MS, () => {
      this.#stop = undefined;
      this.#go();
    });
  }

  /** Sends as much of a long piece as is due. */
  #cut(audio: Uint8Array): void {
    this.#free(audio);
    const step = STEP_MS * this.bytesPerMs;
    let from = 0;
    for (; from < audio.length && this.#isDue; from += step) this.#pass(audio.subarray(from, from + step));
    if (from >= audio.length) return;
    const rest = audio.subarray(from);
    // It was charged already, and is smaller now.
    this.#charge(rest);
    this.#waiting.unshift(rest);
  }

  #pass(audio: Uint8Array): void {
    this.#until = Math.max(this.#until, this.clock.monotonic()) + audio.length / this.bytesPerMs;
    this.send(audio);
  }

  #charge(audio: Uint8Array): boolean {
    const isTaken = this.share.charge(pieceOf(audio.length));
    if (isTaken) this.#bytes += audio.length;
    return isTaken;
  }

  #free(audio: Uint8Array): void {
    this.#bytes -= audio.length;
    this.share.release(pieceOf(audio.length));
  }
}
