/**
 * Transcribes the user's stretches of voice, of which the agent's machine makes turns. Each is transcribed when it ends,
 * during the endpointing delay, so that the words are there when the turn ends; until then, partial transcripts are made for who waits
 * for them (interims.ts).
 * At a short pause, a tenth of a second of silence, it is transcribed ahead: if it has ended, its words are known as soon as
 * that is certain, and until then they are its partial transcript. Short stretches that follow each other are transcribed together
 * (stretch-group.ts). Where there are no words, the recogniser is asked once more for the voiced part alone (voiced-part.ts).
 *
 * A recogniser that hears while it is spoken is given the audio as it comes, and tells partial transcripts and that of the stretch itself;
 * where it fails, all of that is made of the audio as it is of others.
 *
 * Where the agent has asked for an address or a spelling and there is none in the words, the same audio is heard in other forms
 * (other-hearings.ts), and the first one that holds one counts.
 *
 * Invariants: a stretch is transcribed to its end once, and reported then, however late; partial transcripts are made one
 * at a time and never reported after their stretch has ended.
 */
import { LiveHearing } from '../../../../actors/live-hearing.js';
import { bytesOf, RECOGNITION_RATE, samplesOf } from '../../../../contracts/audio.js';
import type { TranscriptionModel } from '../../../../contracts/speech/models.js';
import { toServiceError } from '../../../../contracts/errors.js';
import type { Log } from '../../../../contracts/log.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type {
  RawAudio,
  StandIn,
  Transcript,
  Transcription,
  TranscriptionRequest,
  WorkedBy,
} from '../../../../contracts/ports/speech/speech.js';
import type { SpeechContext } from '../../../../contracts/ports/speech/stt.js';
import { type Ahead, isOfPause, SILENCE, unlessLate } from './ahead.js';
import type { HeardStretch } from './heard-stretch.js';
import type { Ended, Stretch } from './stretch.js';
import { StretchPart, StretchGroup, type JoinedStretches } from './stretch-group.js';
import { isInterimDue } from './interims.js';
import { otherHearings } from './other-hearings.js';
import { voicedPart } from './voiced-part.js';

export interface TurnTranscriptionParts {
  readonly transcription: Transcription;
  readonly model: TranscriptionModel;
  readonly caller: Caller;
  readonly language: string;
  /** Whether a final text holds what the user was asked for, as far as that can be told. Absent: it always does. */
  fits?(text: string): boolean;
  /** What the user may say. Absent: nothing is known of it. */
  context?(): SpeechContext;
  /** Reports the length of the audio of a final transcript, in ms, and who heard it. */
  recognised(ms: number, by: WorkedBy | undefined): void;
  readonly log: Log;
}

/** A stretch of voice longer than this is cut off: it is no turn of a conversation. */
const LONGEST = 300 * RECOGNITION_RATE;

/** The words of a stretch that has ended. */
interface Words {
  readonly text: string;
  /** In which they are, where the recogniser tells. */
  readonly language?: string | undefined;
  readonly joins?: number;
}

const NO_WORDS: Words = { text: '' };
const secondsOf = ({ samples }: Stretch): number => samples / RECOGNITION_RATE;

export interface OnTranscripts {
  /** Reports the words of the user. */
  user(heard: HeardStretch): void;
  /** Reports the words of the present stretch if it ends with the short pause that has just begun; empty: it goes on. */
  foreseen?(span: number, text: string): void;
  /** Reports the final transcript of a stretch of background. */
  background(text: string): void;
}

export class TurnTranscription {
  /** The stretch in progress. */
  #present: Stretch | undefined;
  /** The transcription ahead of the present stretch, during a short pause. */
  #ahead: Ahead | undefined;
  /** Its words were told. */
  #foreseen = false;
  #isInterim = false;
  readonly #group = new StretchGroup();
  /** No more audio comes. */
  #finishes = false;
  /** Final transcriptions that are running. */
  readonly #owed = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  /** Language of transcriptions from now on. */
  language: string;
  /** Those that it may be in: of several the recogniser tells which, where one hears them all. */
  languages: readonly string[] = [];
  reducesNoise = false;
  /** Whether somebody is shown the words while they are spoken. */
  showsWords = false;
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

  /**
   * The user's voice begins: a new stretch with this number, of one turn with those since `joins`. A stretch of background in
   * progress becomes its beginning. `isAwaited`: what is said decides what the agent does, before the stretch has ended.
   */
  begin(span: number, joins?: number, isAwaited = false): void {
    this.#group.begin(joins);
    this.#present?.live?.stop();
    const { chunks, samples } = this.#inBackground ?? { chunks: [], samples: 0 };
    const live = this.#listenTo(span, chunks);
    // Words that follow others of their turn hold up its end.
    const waits = isAwaited || this.showsWords || joins !== undefined;
    this.#present = { span, chunks, samples, interimAt: 0, isAwaited: waits, text: '', live };
  }

  /** Hears the stretch while it is spoken, if the recogniser can; noise can be taken only from whole audio. */
  #listenTo(span: number, before: readonly Uint8Array[]): LiveHearing | undefined {
    if (this.reducesNoise) return undefined;
    const { transcription, model, caller, log } = this.parts;
    const { language, languages } = this;
    const context = this.parts.context?.();
    const request = { model, language, languages, context, sampleRate: RECOGNITION_RATE, uncounted: true };
    const on = {
      changed: (text: string) => {
        if (text !== '' && this.#present?.span === span) this.on.user({ span, text, final: false });
      },
      failed: (err: unknown) =>
        this.#stop.signal.aborted ||
        log.warn(
          { part: 'recogniser', code: toServiceError(err).code, err },
          'a recogniser failed while it listened; it is asked for the whole',
        ),
    };
    const live = LiveHearing.open(transcription, request, caller, on, this.#stop.signal);
    for (const chunk of before) live?.push(samplesOf(chunk));
    return live;
  }

  /** A voice in the background begins. It gets no partial transcripts: nobody waits for them. */
  beginBackground(): void {
    this.#present = { span: undefined, chunks: [], samples: 0, interimAt: 0, isAwaited: false, text: '' };
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
    stretch.live?.push(samples);
    this.#interimWhereDue(stretch);
  }

  /** The user has been silent for a moment, or speaks on: then the transcript made ahead is incomplete. */
  shortPause(active: boolean): void {
    this.#ahead?.abort.abort();
    this.#ahead = undefined;
    const stretch = this.#present;
    if (this.#foreseen) this.on.foreseen?.(stretch?.span ?? 0, '');
    this.#foreseen = false;
    if (!active || stretch?.span === undefined) return;
    const { group } = this.#partOf(stretch);
    // Its words are known soon after its end in any case.
    if (stretch.live?.isWell && !group) return;
    const abort = new AbortController();
    const chunks = [...stretch.chunks, SILENCE];
    const heard = this.#transcribe(group ?? { chunks }, { uncounted: true }, abort.signal).catch(unlessLate);
    const ahead = { heard, joins: group?.joins, samples: stretch.samples, abort };
    this.#ahead = ahead;
    heard.then(
      (found) => this.#tellAhead(stretch, ahead, found),
      () => undefined,
    );
  }

  /** What is known in a short pause is a partial transcript, for who gets few others, and perhaps that of the turn. */
  #tellAhead(stretch: Stretch, ahead: Ahead, found: Transcript | undefined): void {
    if (this.#ahead !== ahead || !found?.text || ahead.joins !== undefined) return;
    if (!stretch.isAwaited) this.#tellInterim(stretch, found.text);
    this.#foresee(stretch.span!, found.text);
  }

  /** Only words that stay: those in one of several languages or without what was asked for may not. */
  #foresee(span: number, text: string): void {
    if (this.languages.length > 1 || this.parts.fits?.(text) === false) return;
    this.#foreseen = true;
    this.on.foreseen?.(span, text);
  }

  #tellInterim(stretch: Stretch, text: string): void {
    if (this.#present !== stretch || stretch.span === undefined) return;
    stretch.text = text;
    this.on.user({ span: stretch.span, text, final: false });
  }

  /** The transcript made ahead, if the stretch has ended with its short pause. */
  #takeAhead({ samples }: Stretch): Ahead | undefined {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    this.#foreseen = false;
    if (ahead && !isOfPause(ahead, samples)) ahead.abort.abort();
    return ahead && isOfPause(ahead, samples) ? ahead : undefined;
  }

  #interimWhereDue(stretch: Stretch): void {
    const { span, samples, live } = stretch;
    if (span === undefined || this.#isInterim || live?.isWell) return;
    if (this.#ahead && isOfPause(this.#ahead, samples)) return;
    if (isInterimDue(stretch)) void this.#transcribeInterim(stretch);
  }

  /** Transcribes the stretch that has just ended. Resolves when its transcript is reported; never rejects. */
  async transcribe(span: number | undefined): Promise<void> {
    const stretch = this.#present;
    if (!stretch || stretch.span !== span) return;
    this.#present = undefined;
    void stretch.live?.whole();
    const ended = { stretch, ahead: this.#takeAhead(stretch), ...this.#partOf(stretch) };
    if (span !== undefined) this.#group.add(ended.part, ended.group);
    const told = this.#settle(ended);
    this.#owed.add(told);
    await told;
    this.#owed.delete(told);
  }

  /** No more audio comes: resolves when everything is transcribed and reported. */
  async finish(): Promise<void> {
    this.#finishes = true;
    if (this.#present) void this.transcribe(this.#present.span);
    await Promise.all(this.#owed);
  }

  stop(): void {
    this.#stop.abort();
    this.#present = undefined;
  }

  async #settle(ended: Ended): Promise<void> {
    const { span } = ended.stretch;
    const words = await this.#whole(ended).catch((error: unknown) => ({
      text: '',
      lost: this.#failed(error),
    }));
    if (this.#stop.signal.aborted) return;
    if (span === undefined) this.on.background(words.text);
    else this.on.user({ span, final: true, ...words });
  }

  #partOf({ span, chunks }: Stretch): Pick<Ended, 'part' | 'group'> {
    const audio = span === undefined ? undefined : voicedPart(chunks);
    if (span === undefined || !audio) return { part: undefined, group: undefined };
    const part = new StretchPart(span, audio);
    return { part, group: this.#group.with(part) };
  }

  async #transcribeInterim(stretch: Stretch): Promise<void> {
    this.#isInterim = true;
    stretch.interimAt = stretch.samples;
    try {
      const { text } = await this.#transcribe(stretch, { interim: true });
      this.#tellInterim(stretch, text);
    } catch {
      // A partial transcript may fail: the engine may be busy.
    } finally {
      this.#isInterim = false;
    }
  }

  /** The whole transcript: that of its group, or else its own. */
  async #whole(ended: Ended): Promise<Words> {
    const { group, part } = ended;
    const together = group ? await this.#fitting(group, await this.#together(group, ended)) : NO_WORDS;
    // At the end of a call, words before it have been recorded.
    if (group && !this.#finishes && group.accepts(together.text)) return { ...together, joins: group.joins };
    const alone = await this.#fitting(ended.stretch, await this.#alone(ended));
    part?.heard(alone.text);
    return alone;
  }

  /** The words, or those of another hearing of the same audio that hold what was asked for. */
  async #fitting(heard: Pick<Stretch, 'chunks'> | JoinedStretches, words: Words): Promise<Words> {
    const { fits } = this.parts;
    if (!fits || this.#finishes || fits(words.text)) return words;
    for (const audio of otherHearings(heard.chunks)) {
      const other = await this.#again(audio);
      if (other.text !== '' && fits(other.text)) return other;
    }
    return words;
  }

  /** The transcript of the group, which counts as that of the stretch: that made `ahead`, unless it failed or is empty. */
  async #together(group: JoinedStretches, { stretch, ahead }: Ended): Promise<Words> {
    const before = ahead?.joins === group.joins ? await ahead.heard : undefined;
    const found = before?.text ? before : await this.#transcribe(group, { uncounted: true });
    this.#count(secondsOf(stretch), found.by);
    return this.#wordsOf(found);
  }

  /**
   * The transcript that was made while it was spoken, or `ahead`, unless it failed or is empty, as a short word may be recognised only at the end; if that is empty,
   * too, that of the voiced part.
   */
  async #alone({ stretch, ahead, part, group }: Ended): Promise<Words> {
    const { transcription, caller } = this.parts;
    const live = stretch.live && (await stretch.live.whole());
    const before = live ?? (ahead && ahead.joins === undefined ? await ahead.heard : undefined);
    const known = before?.text === '' ? undefined : before;
    if (known && !group) transcription.countUsage(caller, known.duration);
    const found = known ?? (await this.#transcribe(stretch, group && { uncounted: true }));
    if (!group) this.parts.recognised(Math.round(found.duration * 1000), found.by);
    return found.text === '' && part ? this.#again(part.audio) : this.#wordsOf(found);
  }

  /** With their language, if it is one of several that are spoken here. */
  #wordsOf({ text, language }: Transcript): Words {
    const isOfSeveral =
      this.languages.length > 1 && language !== undefined && this.languages.includes(language);
    return isOfSeveral ? { text, language } : { text };
  }

  #count(seconds: number, by: WorkedBy | undefined): void {
    this.parts.transcription.countUsage(this.parts.caller, seconds);
    this.parts.recognised(Math.round(seconds * 1000), by);
  }

  /** The words of audio that has counted; empty if the recogniser fails, as it has found none before. */
  async #again(audio: Uint8Array): Promise<Words> {
    const heard = await this.#transcribe({ chunks: [audio] }, { uncounted: true }).catch(() => undefined);
    return heard ? this.#wordsOf(heard) : NO_WORDS;
  }

  #transcribe(
    { chunks }: { readonly chunks: readonly Uint8Array[] },
    how: Pick<TranscriptionRequest, 'interim' | 'uncounted'> = {},
    signal?: AbortSignal,
  ): Promise<Transcript> {
    const { transcription, model, caller } = this.parts;
    const audio: RawAudio = { chunks: [...chunks], sampleRate: RECOGNITION_RATE };
    const { language, languages, reducesNoise } = this;
    const context = this.parts.context?.();
    const wish = { model, language, languages, context, reducesNoise };
    const request = { audio, ...wish, standIn: this.#standIn, ...how };
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
