/**
 * Transcribes the user's stretches of voice, of which the agent's machine makes turns. Each is transcribed when it ends,
 * during the endpointing delay, so that the words are there when the turn ends; until then, partial transcripts are made.
 * At a lull, a tenth of a second of silence, it is transcribed ahead: if it has ended, its words are known as soon as
 * that is certain. Where there are no words, the recogniser is asked once more for the voiced part alone (voiced-part.ts).
 *
 * Invariants: a stretch is transcribed to its end once, and reported then, however late; partial transcripts are made one
 * at a time and never reported after their stretch has ended.
 */
import { bytesOf, RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { TranscriptionModel } from '../../../contracts/speech/models.js';
import { toServiceError } from '../../../contracts/errors.js';
import type { Log } from '../../../contracts/log.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type {
  RawAudio,
  StandIn,
  Transcript,
  Transcription,
  TranscriptionRequest,
} from '../../../contracts/ports/speech/speech.js';
import { voicedPart } from './voiced-part.js';

export interface TurnTranscriptionParts {
  readonly transcription: Transcription;
  readonly model: TranscriptionModel;
  readonly caller: Caller;
  readonly language: string;
  /** Reports the length of the audio of a final transcript, in ms. */
  recognised(ms: number): void;
  readonly log: Log;
}

/** New audio before the next partial transcript, and the longest stretch that gets any: interruptions are judged by their start. */
const INTERIM_EVERY = 0.6 * RECOGNITION_RATE;
const INTERIM_WITHIN = 12 * RECOGNITION_RATE;
/**
 * Longest silence from a lull to the end of the voice as VAD detects it: its quarter of a second plus the fading of the voice,
 * 6 to 12 frames of 32 ms together. After more than that somebody has spoken on, so softly that it counted as silence, and the
 * transcript made ahead is incomplete.
 */
const LULL = 0.4 * RECOGNITION_RATE;
/** Follows audio transcribed ahead, like the silence at the end of a stretch: without it a recogniser hears half a sentence ("outside,"). */
const SILENCE = new Uint8Array(0.288 * RECOGNITION_RATE * Int16Array.BYTES_PER_ELEMENT);
/** A stretch of voice longer than this is cut off: it is no turn of a conversation. */
const LONGEST = 300 * RECOGNITION_RATE;

interface Stretch {
  /** Undefined in the background. */
  readonly span: number | undefined;
  readonly chunks: Uint8Array[];
  samples: number;
  interimAt: number;
}

/** A transcription of a stretch before its end is certain. */
interface Ahead {
  /** Undefined if that failed. Rejects if nobody answered in time: to ask once more would take as long again. */
  readonly heard: Promise<Transcript | undefined>;
  /** Samples of the stretch that it covers. */
  readonly samples: number;
  readonly abort: AbortController;
}

function unlessLate(error: unknown): undefined {
  if (toServiceError(error).code === 'first_byte_timeout') throw error;
}

/** Whether only the silence of its lull has come since. */
const isOfLull = (ahead: Ahead, samples: number): boolean => samples - ahead.samples <= LULL;

export interface OnTranscripts {
  /** Reports the transcript of a stretch of the user's voice so far; `final`: to its end; `lost`: code of the error, if it is unknown. */
  user(span: number, text: string, final: boolean, lost?: string): void;
  /** Reports the final transcript of a stretch of background. */
  background(text: string): void;
}

export class TurnTranscription {
  /** The stretch in progress. */
  #present: Stretch | undefined;
  /** The transcription ahead of the present stretch, during a lull. */
  #ahead: Ahead | undefined;
  #isInterim = false;
  /** Final transcriptions that are running. */
  readonly #owed = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  /** Language of transcriptions from now on. */
  language: string;
  reducesNoise = false;
  readonly #standIn: StandIn = {
    failed: (failure) =>
      this.parts.log.warn({ part: 'recogniser', ...failure }, 'a recogniser failed somebody on the line'),
  };

  constructor(
    private readonly parts: TurnTranscriptionParts,
    private readonly on: OnTranscripts,
  ) {
    this.language = parts.language;
  }

  /** The user's voice begins: a new stretch with this number. A stretch of background in progress becomes its beginning. */
  begin(span: number): void {
    const { chunks, samples } = this.#inBackground ?? { chunks: [], samples: 0 };
    this.#present = { span, chunks, samples, interimAt: 0 };
  }

  /** A voice in the background begins. It gets no partial transcripts: nobody waits for them. */
  beginBackground(): void {
    this.#present = { span: undefined, chunks: [], samples: 0, interimAt: 0 };
  }

  /** The background has ended; false if there was none. */
  endBackground(): boolean {
    if (!this.#inBackground) return false;
    void this.transcribe(undefined);
    return true;
  }

  get #inBackground(): Stretch | undefined {
    return this.#present?.span === undefined ? this.#present : undefined;
  }

  /** Audio of the stretch in progress. */
  get heard(): readonly Uint8Array[] {
    return this.#present?.chunks ?? [];
  }

  audio(samples: Int16Array): void {
    const stretch = this.#present;
    if (!stretch || stretch.samples > LONGEST) return;
    stretch.chunks.push(bytesOf(samples));
    stretch.samples += samples.length;
    this.#interimWhereDue(stretch);
  }

  /** The user has been silent for a moment, or speaks on: then the transcript made ahead is incomplete. */
  lull(active: boolean): void {
    this.#ahead?.abort.abort();
    this.#ahead = undefined;
    const stretch = this.#present;
    if (!active || stretch?.span === undefined) return;
    const abort = new AbortController();
    const chunks = [...stretch.chunks, SILENCE];
    const heard = this.#transcribe({ chunks }, { uncounted: true }, abort.signal).catch(unlessLate);
    heard.catch(() => undefined);
    this.#ahead = { heard, samples: stretch.samples, abort };
  }

  /** The transcript made ahead, if the stretch has ended with its lull. */
  #takeAhead({ samples }: Stretch): Ahead['heard'] | undefined {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead && !isOfLull(ahead, samples)) ahead.abort.abort();
    return ahead && isOfLull(ahead, samples) ? ahead.heard : undefined;
  }

  #interimWhereDue(stretch: Stretch): void {
    const { span, samples, interimAt } = stretch;
    if (span === undefined || this.#isInterim) return;
    if (this.#ahead && isOfLull(this.#ahead, samples)) return;
    if (samples - interimAt >= INTERIM_EVERY && samples <= INTERIM_WITHIN)
      void this.#transcribeInterim(stretch, span);
  }

  /** Transcribes the stretch that has just ended. Resolves when its transcript is reported; never rejects. */
  async transcribe(span: number | undefined): Promise<void> {
    const stretch = this.#present;
    if (!stretch || stretch.span !== span) return;
    this.#present = undefined;
    const told = this.#settle(stretch, this.#takeAhead(stretch));
    this.#owed.add(told);
    await told;
    this.#owed.delete(told);
  }

  /** No more audio comes: resolves when everything is transcribed and reported. */
  async finish(): Promise<void> {
    if (this.#present) void this.transcribe(this.#present.span);
    await Promise.all(this.#owed);
  }

  stop(): void {
    this.#stop.abort();
    this.#present = undefined;
  }

  async #settle(stretch: Stretch, ahead: Ahead['heard'] | undefined): Promise<void> {
    let lost: string | undefined;
    const text = await this.#whole(stretch, ahead).catch((error: unknown) => {
      lost = this.#failed(error);
      return '';
    });
    if (this.#stop.signal.aborted) return;
    if (stretch.span === undefined) this.on.background(text);
    else if (lost === undefined) this.on.user(stretch.span, text, true);
    else this.on.user(stretch.span, text, true, lost);
  }

  async #transcribeInterim(stretch: Stretch, span: number): Promise<void> {
    this.#isInterim = true;
    stretch.interimAt = stretch.samples;
    try {
      const { text } = await this.#transcribe(stretch, { interim: true });
      if (this.#present === stretch) this.on.user(span, text, false);
    } catch {
      // A partial transcript may fail: the engine may be busy.
    } finally {
      this.#isInterim = false;
    }
  }

  /** The whole transcript: that made `ahead`, unless it failed; if it is empty, that of the voiced part. */
  async #whole(stretch: Stretch, ahead: Ahead['heard'] | undefined): Promise<string> {
    const { transcription, caller } = this.parts;
    const before = ahead && (await ahead);
    if (before) transcription.count(caller, before.duration);
    const { text, duration } = before ?? (await this.#transcribe(stretch));
    this.parts.recognised(Math.round(duration * 1000));
    if (text !== '' || stretch.span === undefined) return text;
    const part = voicedPart(stretch.chunks);
    // A short word may be recognised only at the end.
    const chunks = part ? [part] : before && stretch.chunks;
    return chunks ? this.#again(chunks) : '';
  }

  /** The words of audio that has counted; empty if the recogniser fails, as it has found none before. */
  async #again(chunks: readonly Uint8Array[]): Promise<string> {
    const heard = await this.#transcribe({ chunks }, { uncounted: true }).catch(() => undefined);
    return heard?.text ?? '';
  }

  #transcribe(
    { chunks }: { readonly chunks: readonly Uint8Array[] },
    how: Pick<TranscriptionRequest, 'interim' | 'uncounted'> = {},
    signal?: AbortSignal,
  ): Promise<Transcript> {
    const { transcription, model, caller } = this.parts;
    const audio: RawAudio = { chunks: [...chunks], sampleRate: RECOGNITION_RATE };
    const { language, reducesNoise } = this;
    const request = { audio, model, language, reducesNoise, standIn: this.#standIn, ...how };
    const { signal: stop } = this.#stop;
    return transcription.transcribe(request, caller, signal ? AbortSignal.any([stop, signal]) : stop);
  }

  /** The code of why a stretch could not be transcribed. */
  #failed(error: unknown): string {
    const { code } = toServiceError(error);
    if (!this.#stop.signal.aborted)
      this.parts.log.warn({ part: 'recogniser', code, err: error }, 'a turn could not be transcribed');
    return code;
  }
}
