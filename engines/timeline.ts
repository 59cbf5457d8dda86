/**
 * A timeline of the spoken pieces and words, in the time of the audio that leaves the pipeline: the engine's samples
 * are counted where they are made, and afterwards only the stretch, which is known, changes their times.
 *
 * Invariants: pieces leave in order; the end of each is reported before it is forgotten; only audio that has
 * been made but not yet heard is remembered, which the pipeline's back-pressure bounds.
 */
import type { SpokenPiece, WorkedBy } from '../contracts/ports/speech/speech.js';
import type { TimedWord } from '../contracts/ports/speech/tts.js';
import type { Piece } from './text/text-source.js';

/** Encoders and resamplers shift times by less than is audible. */
const TOLERANCE_SECONDS = 0.001;

interface Track {
  readonly index: number;
  readonly piece: Piece;
  /** Start of its audio, in samples of the engine. */
  readonly offset: number;
  length: number;
  readonly words: TimedWord[];
  /** Whether its engine reports word times. */
  readonly hasWords: boolean;
  readonly by: WorkedBy | undefined;
  /** Whether no more audio of it comes, and whether that is all of it. */
  over: boolean;
  complete: boolean;
  /** Whether its end has been reported. */
  told: boolean;
}

const SILENT_TRACK: Track = {
  index: 0,
  piece: { text: '', at: 0 },
  offset: 0,
  length: 0,
  words: [],
  hasWords: false,
  by: undefined,
  over: true,
  complete: true,
  told: false,
};

export class Timeline {
  readonly #tracks: Track[] = [];
  #begun = 0;
  #samples = 0;
  #rate = 1;

  /** Sets, before the first piece, how many of the samples are heard in a second. */
  open(rate: number): void {
    this.#rate = rate;
  }

  /** Begins a piece. `hasWords`: whether its word times will be reported; `by`: who speaks it. */
  begin({ text, at }: Piece, hasWords: boolean, by?: WorkedBy): void {
    const [index, offset] = [this.#begun++, this.#samples];
    const track = { index, piece: { text, at }, offset, length: 0, words: [], hasWords, by };
    this.#tracks.push({ ...track, over: false, complete: false, told: false });
  }

  word(word: TimedWord): void {
    this.#tracks.at(-1)?.words.push(word);
  }

  /** Adds samples to the piece that was begun last. */
  made(samples: number): void {
    this.#samples += samples;
    const track = this.#tracks.at(-1);
    if (track) track.length += samples;
  }

  /** Adds silence that belongs to no piece. */
  paused(samples: number): void {
    this.#samples += samples;
  }

  /** Ends the piece that was begun last. `complete`: all of its text was spoken. */
  end(complete = true): void {
    const track = this.#tracks.at(-1);
    if (track && !track.over) [track.over, track.complete] = [true, complete];
  }

  /** Forgets the pieces that have ended by `second`, and returns those whose end was not yet reported. */
  passed(second: number): SpokenPiece[] {
    const over = this.#tracks.findIndex(
      (track) => !track.over || this.#endOf(track) > second + TOLERANCE_SECONDS,
    );
    // The last one stays, for audio that an encoder adds after it.
    const left = this.#tracks.splice(0, over < 0 ? this.#tracks.length - 1 : over);
    return left.filter(({ told }) => !told).map((track) => this.#show(track));
  }

  /** The piece that is playing: the first that `passed` has not forgotten. */
  current(): SpokenPiece {
    return this.#show(this.#tracks[0] ?? SILENT_TRACK);
  }

  /** At the end: the pieces whose end was not yet reported. */
  rest(): SpokenPiece[] {
    return this.#tracks.filter(({ told }) => !told).map((track) => this.#show(track));
  }

  #endOf = ({ offset, length }: Track): number => (offset + length) / this.#rate;

  #show(track: Track): SpokenPiece {
    const { index, piece, offset, length, words, hasWords, by, over, complete } = track;
    track.told = over;
    return {
      index,
      ...piece,
      offset: offset / this.#rate,
      duration: length / this.#rate,
      complete,
      words: hasWords ? [...words] : undefined,
      ...(by && { by }),
    };
  }
}
