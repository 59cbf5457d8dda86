/**
 * The agent's voice as a track of LiveKit's client. The library has its own queue before the network, which it
 * plays at its own pace; it is kept so short that audio that has left the playout counts as heard.
 *
 * Invariants: that queue never holds more than QUEUE_MS; a frame that the library refuses is dropped, and no other.
 */
import type { AudioSource, LocalAudioTrack } from '@livekit/rtc-node';
import { PLAYOUT_RATE } from '../../contracts/audio.js';
import { FRAME_MS } from '../playout.js';
import type { Rtc } from './rtc.js';

/** Enough to cover one or two late beats. */
const QUEUE_MS = 60;

export class Speaker {
  #track: LocalAudioTrack;
  readonly #source: AudioSource;
  #closed = false;

  constructor(private readonly rtc: Rtc) {
    this.#source = new rtc.AudioSource(PLAYOUT_RATE, 1, QUEUE_MS);
    this.#track = this.#newTrack();
  }

  #newTrack(): LocalAudioTrack {
    return this.rtc.LocalAudioTrack.createAudioTrack('agent', this.#source);
  }

  get track(): LocalAudioTrack {
    return this.#track;
  }

  /** Replaces the track by a new one: a server never answers about one that it still waits for. */
  renew(): void {
    if (this.#closed) return;
    void this.#track.close(false).catch(() => undefined);
    this.#track = this.#newTrack();
  }

  /** Whether another frame fits in the queue. */
  get hasRoom(): boolean {
    return !this.#closed && this.#source.queuedDuration <= QUEUE_MS - FRAME_MS;
  }

  /** Sends one frame of the playout. */
  speak(samples: Int16Array): void {
    if (this.#closed) return;
    // Copied, as the library reads from the beginning of the buffer even if the samples begin later.
    const frame = new this.rtc.AudioFrame(samples.slice(), PLAYOUT_RATE, 1, samples.length);
    this.#source.captureFrame(frame).catch(() => undefined);
  }

  /** Empties the queue. */
  clearAudio(): void {
    if (!this.#closed) this.#source.clearQueue();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#track.close();
  }
}
