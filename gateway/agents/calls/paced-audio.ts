/**
 * A user's audio on its way to the worker, which hears it as fast as it was spoken: some clients send a whole recording at once. Audio
 * that is late was spoken while it was held up, by a network or a busy machine, and is heard at once: otherwise all that the user says
 * from then on would be heard that much later. What waits is charged.
 *
 * Invariants: order is kept, of audio and of what is done after it; nothing is dropped but by `clear`; at most `AHEAD_MS` are with the
 * worker before they are due.
 */
import type { Clock } from '../../../contracts/clock.js';
import { type MemoryShare, pieceOf } from '../../../contracts/ports/accounts/memory.js';
import { LATE_AUDIO_MS } from '../../../media/late-audio.js';

/** A worker takes up to three seconds, of which half a second is for the silence behind a turn. */
const AHEAD_MS = 1500;
const STEP_MS = 100;
/** Audio of whoever speaks now comes as fast as time passes, within these, measured over so long: what waits then is late, not early. */
const LIVE = { least: 0.85, most: 1.15, overMs: 2000 } as const;

type Step = Uint8Array | (() => void);

export class PacedAudio {
  #waiting: Step[] = [];
  #bytes = 0;
  /** When the audio that was sent will have been spoken, by the clock. */
  #until: number;
  /** Whether it comes as it is spoken, and none has come too early since. */
  #isLive = false;
  /** How much has come since then, in milliseconds. */
  #came: { since: number; ms: number };
  #stop: (() => void) | undefined;

  constructor(
    private readonly bytesPerMs: number,
    private readonly share: MemoryShare,
    private readonly clock: Pick<Clock, 'monotonic' | 'after'>,
    /** False if the worker has enough to read: it takes nothing then. */
    private readonly send: (audio: Uint8Array) => boolean,
  ) {
    this.#until = clock.monotonic();
    this.#came = { since: this.#until, ms: 0 };
  }

  /** Bytes of audio that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** So many bytes, which follow, have come since then and were kept. */
  kept(bytes: number, since: number): void {
    this.#came = { since, ms: this.#ms(bytes) };
    const now = this.clock.monotonic();
    if (this.#came.ms <= LIVE.most * (now - since)) this.#live(now - this.#came.ms);
    this.#came = { since: now, ms: -this.#came.ms };
  }

  /** False if there is no memory for it. */
  push(audio: Uint8Array): boolean {
    this.#measure();
    const isNext = this.#waiting.length === 0;
    if (!(isNext && this.#fits(audio) && this.#pass(audio)) && !this.#keep(audio)) return false;
    this.#came.ms += this.#ms(audio.length);
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

  #ms(bytes: number): number {
    return bytes / this.bytesPerMs;
  }

  /** Looks, now and then, how fast it comes. */
  #measure(): void {
    const now = this.clock.monotonic();
    const { since, ms } = this.#came;
    if (now - since < LIVE.overMs) return;
    this.#came = { since: now, ms: 0 };
    const pace = ms / (now - since);
    if (pace >= LIVE.least && pace <= LIVE.most) this.#live(now - this.#ms(this.#bytes));
  }

  #live(until: number): void {
    this.#isLive = true;
    this.#until = until;
  }

  /** When audio that is sent now begins to be spoken: what is later than the longest lateness comes behind a pause. */
  get #from(): number {
    const late = this.#isLive ? LATE_AUDIO_MS : 0;
    return Math.max(this.#until, this.clock.monotonic() - late);
  }

  get #isDue(): boolean {
    return this.#from - this.clock.monotonic() < AHEAD_MS;
  }

  /** Whether all of it is due, or nearly: long pieces are sent in parts. */
  #fits({ length }: Uint8Array): boolean {
    return this.#from + this.#ms(length) - this.clock.monotonic() < AHEAD_MS + STEP_MS;
  }

  #go(): void {
    while (this.#waiting.length > 0 && this.#take());
    if (this.#waiting.length === 0 || this.#stop) return;
    this.#stop = this.clock.after(STEP_MS, () => {
      this.#stop = undefined;
      this.#measure();
      this.#go();
    });
  }

  /** Does what is next; false if that is not due. */
  #take(): boolean {
    const [step] = this.#waiting;
    if (step instanceof Uint8Array) return this.#cut(step);
    this.#waiting.shift();
    step?.();
    return true;
  }

  /** Sends it, or as much of a long piece as is due; false if some of it waits. */
  #cut(audio: Uint8Array): boolean {
    const step = STEP_MS * this.bytesPerMs;
    let from = 0;
    while (from < audio.length && this.#isDue && this.#pass(audio.subarray(from, from + step))) from += step;
    this.#isLive &&= this.#isDue;
    if (from === 0) return false;
    this.#free(audio);
    this.#waiting.shift();
    if (from >= audio.length) return true;
    const rest = audio.subarray(from);
    // It was charged already, and is smaller now.
    this.#charge(rest);
    this.#waiting.unshift(rest);
    return false;
  }

  #pass(audio: Uint8Array): boolean {
    const from = this.#from;
    if (!this.send(audio)) return false;
    this.#until = from + this.#ms(audio.length);
    return true;
  }

  #keep(audio: Uint8Array): boolean {
    if (!this.#charge(audio)) return false;
    this.#waiting.push(audio);
    return true;
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
