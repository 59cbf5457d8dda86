/**
 * Turns the detector's verdicts, one per frame, into spans of speech: with a margin on both sides, never overlapping,
 * never longer than `maxSpan`. Longer speech is cut at its quietest place.
 *
 * Invariant: the held audio is the open span, or the last moment, in which the next one may begin.
 */
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import type { SpeechSpan } from '../../contracts/ports/speech/stt.js';

export interface CutterOptions {
  /** Samples. */
  readonly maxSpan: number;
  /** Samples that the verdict lies behind the audio, when speech begins and when it ends. */
  readonly lag: { readonly begin: number; readonly end: number };
}

export interface Cut {
  readonly span?: SpeechSpan;
  /** Whether the span was cut in running speech, which continues in the next one. */
  readonly cutShort: boolean;
}

/** Margin around speech, so that soft first and last sounds are heard. */
const MARGIN = 0.2 * RECOGNITION_RATE;
/** Loudness is compared over windows of this length. */
const QUIET_WINDOW = 0.05 * RECOGNITION_RATE;
/** A forced cut is sought in this last part of the span. */
const QUIET_SEARCH = 0.4;

const NOTHING: Cut = { cutShort: false };

export class SpanCutter {
  readonly #options: CutterOptions;
  #held: Int16Array[] = [];
  /** Positions in the stream of the first held sample and of the next one to arrive. */
  #from = 0;
  #now = 0;
  /** Start of the open span. */
  #begin: number | undefined;
  /** End of the last span. */
  #ended = 0;

  constructor(options: CutterOptions) {
    this.#options = options;
  }

  /** Takes the next frame, and whether the detector hears speech now. `silence`: samples since it ended, if the detector knows. */
  push(frame: Int16Array, speech: boolean, silence = this.#options.lag.end): Cut {
    this.#held.push(frame);
    this.#now += frame.length;
    if (speech && this.#begin === undefined) {
      this.#begin = Math.max(this.#ended, this.#now - this.#options.lag.begin - MARGIN);
    }
    if (this.#begin === undefined) {
      this.#forget(this.#now - this.#options.lag.begin - MARGIN);
      return NOTHING;
    }
    if (!speech) return { span: this.#close(this.#now - silence + MARGIN), cutShort: false };
    return this.#now - this.#begin < this.#options.maxSpan ? NOTHING : this.#cutShort(this.#begin);
  }

  /** The span that is open when the audio ends. */
  end(): SpeechSpan | undefined {
    return this.#begin === undefined ? undefined : this.#close(this.#now);
  }

  #cutShort(begin: number): Cut {
    const end = this.#quietest(begin + Math.floor(this.#options.maxSpan * (1 - QUIET_SEARCH)), this.#now);
    const span = this.#close(end);
    this.#begin = end;
    return { span, cutShort: true };
  }

  #close(wanted: number): SpeechSpan {
    const start = this.#begin ?? this.#ended;
    const end = Math.min(this.#now, start + this.#options.maxSpan, Math.max(start, wanted));
    const span = { start, samples: this.#copy(start, end) };
    this.#begin = undefined;
    this.#ended = end;
    this.#forget(end);
    return span;
  }

  #copy(start: number, end: number): Int16Array {
    const samples = new Int16Array(end - start);
    let position = this.#from;
    for (const part of this.#held) {
      const wanted = part.subarray(Math.max(0, start - position), Math.max(0, end - position));
      if (wanted.length > 0) samples.set(wanted, Math.max(0, position - start));
      position += part.length;
    }
    return samples;
  }

  /** Drops whole frames before `position`. */
  #forget(position: number): void {
    while (this.#held[0] && this.#from + this.#held[0].length <= position) {
      this.#from += this.#held[0].length;
      this.#held.shift();
    }
  }

  /** The middle of the quietest window in [from, to). */
  #quietest(from: number, to: number): number {
    const samples = this.#copy(from, to);
    let best = { energy: Infinity, at: samples.length };
    for (let at = 0; at + QUIET_WINDOW <= samples.length; at += QUIET_WINDOW) {
      const energy = samples
        .subarray(at, at + QUIET_WINDOW)
        .reduce((sum, sample) => sum + sample * sample, 0);
      if (energy < best.energy) best = { energy, at: at + QUIET_WINDOW / 2 };
    }
    return from + best.at;
  }
}
