/**
 * The agent's voice as a track of LiveKit's client. The library has a queue of its own in front of the network, which it
 * plays at its own pace; it is kept so short that what has left the playout is as good as heard.
 *
 * Invariants: never more than QUEUE_MS are in that queue; a frame that the library does not take is lost alone.
 */
import type { AudioSource, LocalAudioTrack } from '@livekit/rtc-node';
import { PLAYOUT_RATE } from '../../contracts/audio.js';
import { FRAME_MS } from '../playout.js';
import type { Rtc } from './rtc.js';

/** Enough to make up for a beat or two that came late. */
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

  /** Goes on as another track: a server answers nothing about one that it still waits for. */
  renew(): void {
    if (this.#closed) return;
    void this.#track.close(false).catch(() => undefined);
    this.#track = this.#newTrack();
  }

  /** Whether a frame more fits in the queue. */
  get hasRoom(): boolean {
    return !this.#closed && this.#source.queuedDuration <= QUEUE_MS - FRAME_MS;
  }

  /** One frame of the playout. */
  speak(samples: Int16Array): void {
    if (this.#closed) return;
    // The library reads from the beginning of the buffer, wherever the samples begin.
    const frame = new this.rtc.AudioFrame(samples.slice(), PLAYOUT_RATE, 1, samples.length);
    this.#source.captureFrame(frame).catch(() => undefined);
  }

  /** Forgets what is in the queue. */
  hush(): void {
    if (!this.#closed) this.#source.clearQueue();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#track.close();
  }
}
