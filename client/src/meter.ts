/** How loud a track is at this moment, from 0 to 1. It never throws: what a browser cannot measure is silent. */
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

  /** Tracks change with devices and reconnects: the meter follows. */
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
      // Firefox does not join what has another sample rate.
    }
  }
}
