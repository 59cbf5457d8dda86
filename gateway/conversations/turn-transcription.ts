/**
 * The transcripts of the user's stretches of voice, of which the agent's machine makes turns. Each is transcribed when it
 * ends, during the endpointing delay behind it, so that the words are there when the turn is over; while it lasts,
 * partial transcripts are guessed.
 *
 * Invariants: a stretch is transcribed to its end once, and told then, however late; guesses run one at a time and
 * are never told after their stretch has ended.
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
}

/** Takes the transcript of that stretch so far; `final`: to its end. */
export type OnTranscript = (span: number, text: string, final: boolean) => void;

export class TurnTranscription {
  /** The stretch that lasts. */
  #present: Stretch | undefined;
  #guessing = false;
  /** The transcriptions that run. */
  readonly #owed = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(
    private readonly parts: TurnTranscriptionParts,
    private readonly onTranscript: OnTranscript,
  ) {}

  /** Voice begins: a new stretch with this number. */
  begin(span: number): void {
    this.#present = { span, chunks: [], samples: 0, guessedAt: 0 };
  }

  audio(samples: Int16Array): void {
    const stretch = this.#present;
    if (!stretch || stretch.samples > LONGEST) return;
    stretch.chunks.push(bytesOf(samples));
    stretch.samples += samples.length;
    const fresh = stretch.samples - stretch.guessedAt;
    if (fresh >= GUESS_EVERY && stretch.samples <= GUESS_WITHIN && !this.#guessing) void this.#guess(stretch);
  }

  /** Transcribes the stretch that has just ended. Resolves when it is told; never rejects. */
  async transcribe(span: number): Promise<void> {
    const stretch = this.#present;
    if (stretch?.span !== span) return;
    this.#present = undefined;
    const told = this.#settle(stretch);
    this.#owed.add(told);
    await told;
    this.#owed.delete(told);
  }

  /** No more audio comes: resolves when everything is transcribed and told. */
  async finish(): Promise<void> {
    if (this.#present) void this.transcribe(this.#present.span);
    await Promise.all(this.#owed);
  }

  stop(): void {
    this.#stop.abort();
    this.#present = undefined;
  }

  async #settle(stretch: Stretch): Promise<void> {
    const text = await this.#textOf(stretch, false).catch((error: unknown) => this.#failed(error));
    if (!this.#stop.signal.aborted) this.onTranscript(stretch.span, text, true);
  }

  async #guess(stretch: Stretch): Promise<void> {
    this.#guessing = true;
    stretch.guessedAt = stretch.samples;
    try {
      const text = await this.#textOf(stretch, true);
      if (this.#present === stretch) this.onTranscript(stretch.span, text, false);
    } catch {
      // A guess is not owed: the engine may be busy.
    } finally {
      this.#guessing = false;
    }
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
