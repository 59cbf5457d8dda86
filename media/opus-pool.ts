/**
 * A pool of Opus coders: each holds native memory that only garbage collection releases, and calls come and go faster
 * than that.
 */
import { Decoder, Encoder } from '@evan/opus';
import { PLAYOUT_RATE, RECOGNITION_RATE } from '../contracts/audio.js';

/** Most idle coders kept. */
const MOST_IDLE = 64;

class Pool<T extends { reset(): void }> {
  readonly #idle: T[] = [];

  constructor(private readonly make: () => T) {}

  /** An idle coder, reset, or a new one. */
  take(): T {
    return this.#idle.pop() ?? this.make();
  }

  /** Takes a coder back; the caller must not use it after release. */
  give(coder: T): void {
    if (this.#idle.length >= MOST_IDLE) return;
    coder.reset();
    this.#idle.push(coder);
  }
}

/** Decoders to mono at RECOGNITION_RATE. */
export const decoders = new Pool(() => new Decoder({ channels: 1, sample_rate: RECOGNITION_RATE }));
/** Encoders of mono speech at PLAYOUT_RATE. The caller sets bitrate and complexity. */
export const encoders = new Pool(
  () => new Encoder({ channels: 1, sample_rate: PLAYOUT_RATE, application: 'voip' }),
);
