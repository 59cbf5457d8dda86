/**
 * The transcript of the user's turn so far. Each stretch of voice is transcribed when it ends, during the endpointing
 * delay behind it, so that the words are there when the turn is over; while it lasts, partial transcripts are guessed.
 *
 * Invariants: the turn's text holds its stretches in order; a stretch is transcribed to its end once; guesses
 * run one at a time and never after their stretch has ended.
 */
import { bytesOf, RECOGNITION_RATE } from '../../contracts/audio.js';
import type { TranscriptionModel } from '../../contracts/models.js';
import type { Log } from '../../contracts/log.js';
import type { Caller } from '../../contracts/ports/identity.js';
import type { RawAudio, Transcription } from '../../contracts/ports/speech.js';

export interface TurnTranscriptionParts {
  readonly transcription: Transcription;
  readonly model: TranscriptionModel;
  readonly caller: Caller;
  readonly language: string;
  readonly log: Log;
}

/** New audio before another guess, and up to where guesses are of use: interruptions are weighed at their start. */
const GUESS_EVERY = 0.6 * RECOGNITION_RATE;
const GUESS_WITHIN = 12 * RECOGNITION_RATE;
/** A stretch of voice longer than this is cut off: it is no turn of a conversation. */
const LONGEST = 300 * RECOGNITION_RATE;

interface Stretch {
  readonly span: number;
  readonly chunks: Uint8Array[];
  samples: number;
  guessedAt: number;
  text: string;
  /** No more audio comes. */
  ended: boolean;
  /** The text is no guess any more. */
  settled: boolean;
}

/** Takes the turn's transcript so far, up to that stretch; `final`: it changes no more unless another stretch begins. */
export type OnTranscript = (span: number, text: string, final: boolean) => void;

export class TurnTranscription {
  #turn: Stretch[] = [];
  #guessing = false;
  readonly #stop = new AbortController();

  constructor(
    private readonly parts: TurnTranscriptionParts,
    private readonly onTranscript: OnTranscript,
  ) {}

  /** Voice begins: a new stretch with this number. */
  begin(span: number): void {
    this.#turn.push({
      span,
      chunks: [],
      samples: 0,
      guessedAt: 0,
      text: '',
      ended: false,
      settled: false,
    });
  }

  audio(samples: Int16Array): void {
    const stretch = this.#turn.at(-1);
    if (!stretch || stretch.ended || stretch.samples > LONGEST) return;
    stretch.chunks.push(bytesOf(samples));
    stretch.samples += samples.length;
    const fresh = stretch.samples - stretch.guessedAt;
    if (fresh >= GUESS_EVERY && stretch.samples <= GUESS_WITHIN && !this.#guessing) void this.#guess(stretch);
  }

  /** Transcribes the stretch that has just ended. */
  async transcribe(span: number): Promise<void> {
    const stretch = this.#turn.find((each) => each.span === span);
    if (!stretch || stretch.ended) return;
    stretch.ended = true;
    stretch.text = await this.#textOf(stretch, false).catch((error: unknown) => this.#failed(error));
    stretch.settled = true;
    if (!this.#stop.signal.aborted && this.#turn.includes(stretch)) this.#tell();
  }

  /** The turn is over. */
  close(): void {
    this.#turn = [];
  }

  stop(): void {
    this.#stop.abort();
    this.close();
  }

  async #guess(stretch: Stretch): Promise<void> {
    this.#guessing = true;
    stretch.guessedAt = stretch.samples;
    try {
      const text = await this.#textOf(stretch, true);
      if (stretch.ended || !this.#turn.includes(stretch)) return;
      stretch.text = text;
      this.#tell();
    } catch {
      // A guess is not owed: the engine may be busy.
    } finally {
      this.#guessing = false;
    }
  }

  #tell(): void {
    const last = this.#turn.at(-1);
    if (!last) return;
    const final = this.#turn.every(({ settled }) => settled);
    const said = this.#turn.map(({ text }) => text).filter((text) => text !== '');
    this.onTranscript(last.span, said.join(' '), final);
  }

  async #textOf({ chunks }: Stretch, interim: boolean): Promise<string> {
    const { transcription, model, caller, language } = this.parts;
    const audio: RawAudio = { chunks: [...chunks], sampleRate: RECOGNITION_RATE };
    const request = { audio, model, language, interim };
    return (await transcription.transcribe(request, caller, this.#stop.signal)).text;
  }

  /** Voice that cannot be transcribed counts as nothing said. */
  #failed(error: unknown): string {
    if (!this.#stop.signal.aborted) this.parts.log.warn({ err: error }, 'a turn could not be transcribed');
    return '';
  }
}
