/** A caller's end of a call whose sound is frames on a socket: a telephone's, or that of a client of agents. */
import type { LineAudio } from '../audio/line-audio.js';
import { LinePlayer } from './line-player.js';
import type { Sounding } from './sounding.js';
import { FRAME_MS, waitFor } from './timing.js';

/** Something to be said, as the line writes it. */
export interface LineUtterance extends Sounding {
  readonly sound: Buffer;
}

/** Nobody says anything for longer. */
const SAYING_MS = 60_000;

export abstract class Line {
  readonly heard: LinePlayer;
  /** When the far side had the sound dropped that was not played yet, and since when nothing was; undefined where it has not. */
  cleared: { readonly at: number; readonly silent: number } | undefined;
  readonly #silence: Buffer;
  readonly #queue: { readonly frame: Buffer; readonly sent: number[] }[] = [];

  protected constructor(audio: LineAudio) {
    this.heard = new LinePlayer(audio);
    this.#silence = audio.write(Buffer.alloc((2 * audio.rate * FRAME_MS) / 1000));
  }

  abstract hangUp(): void;
  protected abstract speak(frame: Buffer): void;

  /** 20 ms of what is to be said, else of silence. */
  sendFrame(): void {
    const next = this.#queue.shift();
    next?.sent.push(performance.now());
    this.speak(next?.frame ?? this.#silence);
  }

  /** Says it, beginning with the next frame. Resolves once all has left, with when its first and its last sound had. */
  async say({ sound, from, to }: LineUtterance): Promise<Sounding> {
    const sent: number[] = [];
    const { length } = this.#silence;
    const count = Math.ceil(sound.length / length);
    for (let index = 0; index < count; index += 1) {
      const frame = Buffer.from(this.#silence);
      sound.copy(frame, 0, index * length, (index + 1) * length);
      this.#queue.push({ frame, sent });
    }
    await waitFor(() => sent.length === count, SAYING_MS);
    const leftAt = (ms: number): number => sent[Math.floor(ms / FRAME_MS)] ?? performance.now();
    return { from: leftAt(from), to: leftAt(Math.max(0, to - 1)) };
  }

  /** The far side has what was not played yet dropped. */
  protected drop(): void {
    const at = performance.now();
    this.cleared ??= { at, silent: this.heard.clear(at) };
  }
}
