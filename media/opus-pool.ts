/**
 * Opus coders that are used again: each is native memory, which goes only when the collector finds it, and calls come
 * and go faster than that.
 */
import { Decoder, Encoder } from '@evan/opus';
import { PLAYOUT_RATE, RECOGNITION_RATE } from '../contracts/audio.js';

/** More of them wait for nobody. */
const MOST_IDLE = 64;

class Pool<T extends { reset(): void }> {
  readonly #idle: T[] = [];

  constructor(private readonly make: () => T) {}

  /** As new. */
  take(): T {
    return this.#idle.pop() ?? this.make();
  }

  /** It is not used afterwards by whoever had it. */
  give(coder: T): void {
    if (this.#idle.length >= MOST_IDLE) return;
    coder.reset();
    this.#idle.push(coder);
  }
}

/** To mono at RECOGNITION_RATE. */
export const decoders = new Pool(() => new Decoder({ channels: 1, sample_rate: RECOGNITION_RATE }));
/** Of mono speech at PLAYOUT_RATE. Whoever takes one sets what it needs. */
export const encoders = new Pool(
  () => new Encoder({ channels: 1, sample_rate: PLAYOUT_RATE, application: 'voip' }),
);
