/**
 * SampleRecording of a call whose carrier has samples: recordings are made of Opus packets, so both
 * sides are encoded for the recording.
 *
 * Invariant: every word of the user is recorded. What comes faster than it was spoken is ahead of the agent's side, and so is what was
 * late, behind the silence for which it was taken: both fall into step again where the user is silent.
 */
import { Encoder } from '@evan/opus';
import { bytesOf, PLAYOUT_RATE, RECOGNITION_RATE } from '../contracts/audio.js';
import { MOST_EARLY_MS } from './late-audio.js';
import { OPUS_RATE } from './ogg.js';
import { FRAME_MS } from './playout.js';
import type { Recorder } from './recorder.js';

const BITRATE = 32_000;
const USER_FRAME = (RECOGNITION_RATE * FRAME_MS) / 1000;
/** Opus counts this many samples for each of ours. */
const STEP = OPUS_RATE / RECOGNITION_RATE;
const MOST_EARLY = (MOST_EARLY_MS * OPUS_RATE) / 1000;
/** Jitter is no lead. */
const IN_STEP = (4 * FRAME_MS * OPUS_RATE) / 1000;
/** A softer frame is silence: -50 dB of full scale, as a mean square. */
const QUIET = 32_768 ** 2 * 1e-5;

function encoder(rate: 24_000 | 16_000, complexity: number): Encoder {
  const made = new Encoder({ channels: 1, sample_rate: rate, application: 'voip' });
  made.bitrate = BITRATE;
  made.complexity = complexity as Encoder['complexity'];
  return made;
}

const isQuiet = (frame: Int16Array): boolean =>
  frame.reduce((sum, sample) => sum + sample * sample, 0) < QUIET * frame.length;

export class SampleRecording {
  readonly #agent: Encoder;
  readonly #user: Encoder;
  readonly #frame = new Int16Array(USER_FRAME);
  #filled = 0;
  /** Samples of the user so far, at 48 kHz. */
  #timestamp = 0;

  constructor(
    private readonly recorder: Recorder,
    complexity: number,
  ) {
    this.#agent = encoder(PLAYOUT_RATE, complexity);
    this.#user = encoder(RECOGNITION_RATE, complexity);
  }

  /** Records one frame of the playout, which was heard so many beats ago. */
  agent(samples: Int16Array, beatsAgo = 0): void {
    this.recorder.agent(this.#agent.encode(bytesOf(samples)), beatsAgo);
  }

  /** Records samples of the user, of any length, at 16 kHz. */
  user(samples: Int16Array): void {
    for (let from = 0; from < samples.length;) {
      const part = samples.subarray(from, from + USER_FRAME - this.#filled);
      this.#frame.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === USER_FRAME) this.#keep();
    }
  }

  #keep(): void {
    this.#filled = 0;
    if (this.recorder.userAhead > IN_STEP && isQuiet(this.#frame)) return;
    const isSilent = this.#frame.every((sample) => sample === 0);
    const payload = isSilent ? undefined : Uint8Array.from(this.#user.encode(bytesOf(this.#frame)));
    this.recorder.user({ timestamp: this.#timestamp, payload }, MOST_EARLY);
    this.#timestamp = (this.#timestamp + USER_FRAME * STEP) >>> 0;
  }

  /** The user has paused: the next samples are placed by their arrival. */
  pause(): void {
    this.recorder.renew();
  }
}
