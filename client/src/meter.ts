/** Current loudness of a track, from 0 to 1. Never throws: a track that the browser cannot measure reads as silent. */
import { levelOf } from './level.js';

const WINDOW = 1024;

export class Meter {
  readonly #analyser: AnalyserNode;
  readonly #samples = new Float32Array(WINDOW);
  #source: MediaStreamAudioSourceNode | undefined;
  #track: MediaStreamTrack | undefined;

  constructor(private readonly context: AudioContext) {
    this.#analyser = context.createAnalyser();
    this.#analyser.fftSize = WINDOW;
  }

  /** Loudness of the track, 0 without one. The meter follows the track when a new device or a reconnect replaces it. */
  level(track: MediaStreamTrack | undefined): number {
    if (track !== this.#track) this.#follow(track);
    if (!track) return 0;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    return levelOf(this.#samples);
  }

  #follow(track: MediaStreamTrack | undefined): void {
    this.#source?.disconnect();
    this.#track = track;
    this.#source = undefined;
    if (!track) return;
    try {
      this.#source = this.context.createMediaStreamSource(new MediaStream([track]));
      this.#source.connect(this.#analyser);
    } catch {
      // Firefox refuses a track whose sample rate is not the context's.
    }
  }
}
