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
  /** Of so much audio the final transcript was made, in ms. */
  recognised(ms: number): void;
  readonly log: Log;
}

/** New audio before another guess, and up to where guesses are of use: interruptions are weighed at their start. */
const GUESS_EVERY = 0.6 * RECOGNITION_RATE;
const GUESS_WITHIN = 12 * RECOGNITION_RATE;
/** A stretch of voice longer than this is cut off: it is no turn of a conversation. */
const LONGEST = 300 * RECOGNITION_RATE;

interface Stretch {
  /** Undefined in the background. */
  readonly span: number | undefined;
  readonly chunks: Uint8Array[];
  samples: number;
  guessedAt: number;
}

export interface OnTranscripts {
  /** The transcript of that stretch of the user's voice so far; `final`: to its end. */
  user(span: number, text: string, final: boolean): void;
  /** What was said in the background, to its end. */
  background(text: string): void;
}

export class TurnTranscription {
  /** The stretch that lasts. */
  #present: Stretch | undefined;
  #guessing = false;
  /** The transcriptions that run. */
  readonly #owed = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  /** Of what is transcribed from now on. */
  language: string;

  constructor(
    private readonly parts: TurnTranscriptionParts,
    private readonly on: OnTranscripts,
  ) {
    this.language = parts.language;
  }

  /** The user's voice begins: a new stretch with this number. What was in the background until now has been its beginning. */
  begin(span: number): void {
    const { chunks, samples } = this.#inBackground ?? { chunks: [], samples: 0 };
    this.#present = { span, chunks, samples, guessedAt: 0 };
  }

  /** A voice in the background begins. Nothing is guessed of it: nobody waits for it. */
  beginBackground(): void {
    this.#present = { span: undefined, chunks: [], samples: 0, guessedAt: 0 };
  }

  /** It has ended; false where there was none. */
  endBackground(): boolean {
    if (!this.#inBackground) return false;
    void this.transcribe(undefined);
    return true;
  }

  get #inBackground(): Stretch | undefined {
    return this.#present?.span === undefined ? this.#present : undefined;
  }

  /** What has been heard of the stretch that lasts. */
  get heard(): readonly Uint8Array[] {
    return this.#present?.chunks ?? [];
  }

  audio(samples: Int16Array): void {
    const stretch = this.#present;
    if (!stretch || stretch.samples > LONGEST) return;
    stretch.chunks.push(bytesOf(samples));
    stretch.samples += samples.length;
    this.#guessWhereDue(stretch);
  }

  #guessWhereDue(stretch: Stretch): void {
    const { span, samples, guessedAt } = stretch;
    if (span === undefined || this.#guessing) return;
    if (samples - guessedAt >= GUESS_EVERY && samples <= GUESS_WITHIN) void this.#guess(stretch, span);
  }

  /** Transcribes the stretch that has just ended. Resolves when it is told; never rejects. */
  async transcribe(span: number | undefined): Promise<void> {
    const stretch = this.#present;
    if (!stretch || stretch.span !== span) return;
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
    if (this.#stop.signal.aborted) return;
    if (stretch.span === undefined) this.on.background(text);
    else this.on.user(stretch.span, text, true);
  }

  async #guess(stretch: Stretch, span: number): Promise<void> {
    this.#guessing = true;
    stretch.guessedAt = stretch.samples;
    try {
      const text = await this.#textOf(stretch, true);
      if (this.#present === stretch) this.on.user(span, text, false);
    } catch {
      // A guess is not owed: the engine may be busy.
    } finally {
      this.#guessing = false;
    }
  }

  async #textOf({ chunks }: Stretch, interim: boolean): Promise<string> {
    const { transcription, model, caller } = this.parts;
    const audio: RawAudio = { chunks: [...chunks], sampleRate: RECOGNITION_RATE };
    const request = { audio, model, language: this.language, interim };
    const { text, duration } = await transcription.transcribe(request, caller, this.#stop.signal);
    if (!interim) this.parts.recognised(Math.round(duration * 1000));
    return text;
  }

  /** Voice that cannot be transcribed counts as nothing said. */
  #failed(error: unknown): string {
    if (!this.#stop.signal.aborted) this.parts.log.warn({ err: error }, 'a turn could not be transcribed');
    return '';
  }
}
