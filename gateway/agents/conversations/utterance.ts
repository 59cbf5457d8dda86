/**
 * One job of the agent's voice: takes text as the model writes it, plays speech in the call as it is made, and reports
 * the words that have been heard, in step with the playout.
 */
import { PLAYOUT_RATE, samplesOf } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { Clock } from '../../../contracts/clock.js';
import type { Call } from '../../../contracts/ports/calls/calls.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { Speech, SpeechOptions, SpokenPiece } from '../../../contracts/ports/speech/speech.js';
import type { FailedPart } from '../../../actors/agent/events.js';
import { TextFeed } from '../../../actors/text-feed.js';
import type { Captions } from './client/captions.js';
import { CuedText, type CuedPart, withoutCues } from './cues.js';
import type { ToolCallStep, SpokenStep } from './dialogue.js';
import { HeardText } from './heard-text.js';
import { leadOf } from './leading-silence.js';
import { pause } from './record.js';
import type { SpokenLine } from './spoken-line.js';
import type { ReplyText } from './replies.js';
import { usageOfWork } from './turns/engine-usage.js';
import type { NoteTurn } from './turns/turn-events.js';

/** How the agent speaks: the speech port, its options, and who pays. */
export interface AgentVoice {
  readonly speech: Pick<Speech, 'synthesizeTimed'>;
  /** PCM at PLAYOUT_RATE. */
  readonly options: SpeechOptions;
  readonly caller: Caller;
  /** Set if cues for the delivery stand in what it says (cues.ts): whether its engine knows them. Never rejects. */
  readonly cues?: Promise<boolean>;
  /** Called when its voice no longer exists and the default one speaks instead. */
  substituted(): void;
}

const isGone = (error: unknown): boolean => error instanceof ServiceError && error.code === 'voice_not_found';

/** Text that waits to be spoken, in bytes: a model writes far faster than anybody speaks. */
const WAITING_TEXT = 256 * 1024;

const msOf = (samples: number): number => (samples * 1000) / PLAYOUT_RATE;

/** Interval between two looks at what was heard, and the longest wait for it: longer than anybody speaks before a tool. */
const LOOK_MS = 50;
const MOST_HEARD_MS = 30_000;

/** A step of the model in the text of its job. */
interface Step {
  /** The end of its text, in characters. */
  readonly end: number;
  readonly at: Date;
  readonly calls: ToolCallStep | undefined;
}

/** A filler, and when in the playout it begins. */
interface Filling {
  readonly line: SpokenStep;
  readonly from: number;
  readonly ms: number;
}

/** `audible`: its first audio is on its way; `fed`: there is more of it, after all that was made before had been heard. */
export type Sounding = (how: 'audible' | 'fed') => void;

/** Speech that lasts no longer has been heard before the playout reports again. */
const DRY_MS = 100;

/** Why an utterance stops early. */
export interface UtteranceFailure {
  readonly error: unknown;
  readonly by?: FailedPart;
}

export class Utterance implements ReplyText {
  readonly #feed = new TextFeed(WAITING_TEXT);
  readonly #heard = new HeardText();
  readonly #abort = new AbortController();
  readonly #steps: Step[] = [];
  #settle = (): void => undefined;
  /** Resolves when the turn that it answers has ended, or it was cancelled. */
  readonly sure = new Promise<void>((resolve) => (this.#settle = resolve));
  /** Its turn may go on: nobody hears it yet. */
  #isDraft = false;
  /** When the present step began. */
  #begins: Date | undefined;
  #shown = '';
  #written = '';
  /** Length of what the call was told of that. */
  #told = 0;
  /** Length of all its speech; undefined until it is known. */
  #wholeMs: number | undefined;
  /** Samples of its speech so far, without fillers. */
  #samples = 0;
  /** Silence at its beginning that is not played. */
  #leadMs = 0;
  /** Nearly all of that has been heard. */
  #dry = false;
  /** What is spoken now of its text. */
  #piece: SpokenPiece | undefined;
  readonly #fillers: Filling[] = [];
  readonly #cued: CuedText | undefined;
  /** Whether anything was written, cues included. */
  #begun = false;
  /** How many of them come before its speech. */
  #leading = 0;
  #failure: UtteranceFailure | undefined;

  constructor(
    readonly job: number,
    private readonly call: Call,
    private readonly now: () => Date,
    private readonly note: NoteTurn,
    /** Whether cues for the delivery stand in its text. */
    hasCues = false,
  ) {
    if (hasCues) this.#cued = new CuedText();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** All text written so far. */
  get written(): string {
    return this.#written;
  }

  /** Whether there is something to say. */
  get saysSomething(): boolean {
    return this.#begun || this.#written.trim() !== '';
  }

  write(text: string): string {
    this.#begins ??= this.now();
    this.#begun ||= text.trim() !== '';
    return this.#add(this.#cued?.add(text) ?? { spoken: text, written: text });
  }

  #add({ spoken, written }: CuedPart): string {
    this.#written += written;
    this.#feed.add(spoken);
    return written;
  }

  /** No more text comes for now. */
  #settleText(): void {
    if (this.#cued) this.#add(this.#cued.rest());
    const fresh = this.#written.slice(this.#told);
    this.#told = this.#written.length;
    if (fresh.trim() !== '') this.call.wrote?.(this.job, fresh);
  }

  /** Speaks the text so far without waiting for more. */
  called(calls: ToolCallStep): void {
    this.#settleText();
    this.#steps.push({ end: this.#written.length, at: this.#begins ?? this.now(), calls });
    this.#begins = undefined;
    this.#feed.flush();
  }

  /** Says a line that is no part of the answer, before it or where nothing more of it comes; false if there is something to be heard. */
  fill({ text, samples }: SpokenLine): boolean {
    const isHeard = this.#samples === 0 || this.#dry;
    if (!isHeard || this.#wholeMs !== undefined || this.signal.aborted) return false;
    const said = this.#cued ? withoutCues(text) : text;
    const line = { text: said, at: this.now(), calls: undefined, filler: true } as const;
    this.#fillers.push({ line, from: this.#madeMs, ms: msOf(samples.length) });
    if (this.#samples === 0) this.#leading += 1;
    this.call.wrote?.(this.job, said);
    // Once it has been heard, the answer has run dry again.
    this.#dry = false;
    // It is short, so nobody waits for room.
    void this.call.playSpeech(this.job, samples);
    return true;
  }

  get hasFillers(): boolean {
    return this.#fillers.length > 0;
  }

  /** Length of everything so far, fillers included. */
  get #madeMs(): number {
    return msOf(this.#samples) + this.#fillers.reduce((sum, { ms }) => sum + ms, 0);
  }

  /** Whether, after `ms` of playout, nothing more of it is to be heard for now; true once, until it has more. */
  runsDry(ms: number): boolean {
    if (this.#dry || this.#samples === 0 || this.#wholeMs !== undefined || this.signal.aborted) return false;
    return (this.#dry = this.#madeMs - ms < DRY_MS);
  }

  /** Why it stops early: what was made of it is heard to its end first. */
  get failure(): UtteranceFailure | undefined {
    return this.#failure;
  }

  /** Nothing more is written, as that has failed; false if there is nothing to be heard of it. */
  breakOff(failure: UtteranceFailure): boolean {
    this.#settleText();
    if (this.signal.aborted || this.#written.trim() === '') return false;
    this.#failure ??= failure;
    this.#feed.end();
    return true;
  }

  /** Until `makeSure` nothing of it is played. */
  makeDraft(): void {
    this.#isDraft = true;
  }

  /** The turn has ended: text written before counts as said from now on, after the user's message. */
  makeSure(): void {
    this.#isDraft = false;
    if (this.#begins) this.#begins = this.now();
    this.#settle();
  }

  endText(): void {
    this.#settleText();
    this.#feed.end();
  }

  cancel(): void {
    this.#abort.abort(new DOMException('The reply was cancelled', 'AbortError'));
    this.#count();
    this.#settle();
    this.#feed.end();
  }

  /**
   * Speaks until the text has ended; true if anything was said. A missing voice is noticed before any text is read, so
   * that the caller hears another one rather than nothing. Errors: those of `Speech`.
   */
  async speak(voice: AgentVoice, sounding: Sounding): Promise<boolean> {
    try {
      return await this.#speak(voice, sounding);
    } catch (error) {
      if (!isGone(error) || voice.options.voice === '') throw error;
      voice.substituted();
      return this.#speak({ ...voice, options: { ...voice.options, voice: '' } }, sounding);
    }
  }

  /** Says its text as it was made before. */
  sayLine({ text, samples }: SpokenLine, sounding: Sounding): boolean {
    if (this.signal.aborted) return false;
    const duration = samples.length / PLAYOUT_RATE;
    const piece = { index: 0, at: 0, text, offset: 0, duration, complete: true, words: undefined };
    this.#heard.note(piece);
    void this.call.playSpeech(this.job, samples);
    this.#samples = samples.length;
    sounding('audible');
    return this.#finish();
  }

  /** A voice that fails after its first sound is heard that far. */
  async #speak(voice: AgentVoice, sounding: Sounding): Promise<boolean> {
    try {
      await this.#stream(voice, sounding);
    } catch (error) {
      if (this.#samples === 0 || this.signal.aborted) throw error;
      this.#failure ??= { error, by: 'speech' };
    }
    return this.#finish();
  }

  /** False if there was nothing to be heard. */
  #finish(): boolean {
    if (this.#samples === 0) return false;
    this.#wholeMs = this.#madeMs;
    if (!this.signal.aborted) this.call.finishUtterance(this.job);
    return true;
  }

  async #stream({ speech, options, caller }: AgentVoice, sounding: Sounding): Promise<void> {
    const request = { ...options, text: this.#feed };
    try {
      for await (const { audio, piece } of speech.synthesizeTimed(request, caller, this.signal)) {
        this.#heard.note(piece);
        if (this.signal.aborted) break;
        if (piece.index !== this.#piece?.index) this.#count();
        this.#piece = piece;
        if (audio.length > 0) await this.#play(this.#withoutLead(samplesOf(audio)), sounding);
      }
    } finally {
      this.#count();
    }
  }

  /** Begins with the first sound; cues may want a pause before it. */
  #withoutLead(speech: Int16Array): Int16Array {
    const lead = this.#samples > 0 || this.#cued ? 0 : leadOf(speech);
    this.#leadMs += msOf(lead);
    return speech.subarray(lead);
  }

  async #play(speech: Int16Array, sounding: Sounding): Promise<void> {
    const room = this.call.playSpeech(this.job, speech);
    if (this.#samples === 0) sounding('audible');
    if (this.#dry) sounding('fed');
    this.#dry = false;
    this.#samples += speech.length;
    await room;
  }

  /** Counts the piece that is spoken, as nothing more of it comes; what an engine failed to speak is not counted. */
  #count(): void {
    const { text = '', duration = 0, by } = this.#piece ?? {};
    this.#piece = undefined;
    if (duration === 0) return;
    const work = { characters: text.length, spokenMs: Math.round(duration * 1000) };
    this.note({ type: 'used', job: this.job, usage: usageOfWork(work, by) });
  }

  /** Whether at most `left` ms of it remain after `ms` of playout. */
  endsWithin(left: number, ms: number): boolean {
    return this.#wholeMs !== undefined && this.#wholeMs - ms <= left;
  }

  /** The text that is newly heard after `ms` of playout; all the rest if it has `ended` by itself. */
  progress(ms: number, ended: boolean): string {
    const whole = ended && !this.signal.aborted && !this.#failure;
    const heard = whole ? this.#written : this.heardIn(ms);
    if (heard.length <= this.#shown.length) return '';
    const fresh = heard.slice(this.#shown.length);
    this.#shown = heard;
    return fresh;
  }

  /** The text that is heard in the first `ms` of playout. */
  heardIn(ms: number): string {
    const fillers = this.#fillers.map(({ from, ms: length }) => Math.min(length, Math.max(0, ms - from)));
    const spokenMs = ms - fillers.reduce((sum, filler) => sum + filler, 0);
    const reached = this.#heard.at(spokenMs > 0 ? spokenMs + this.#leadMs : 0);
    return this.#written.slice(0, this.#cued?.writtenAt(reached) ?? reached);
  }

  /** Whether it is one text: without fillers, and without tools between its words. */
  get isPlain(): boolean {
    return this.#fillers.length === 0 && this.#steps.length === 0;
  }

  /** All of its text that has been heard. */
  get heard(): string {
    return this.#shown;
  }

  /** Whether the text heard so far stops at the end of a sentence. */
  get isBetweenSentences(): boolean {
    return /[.!?。！？]["'”’)\]]*\s*$/u.test(this.#shown);
  }

  /** Text that was written and is not heard yet, but soon. */
  get ahead(): string {
    return this.#isDraft ? '' : this.#written.slice(this.#shown.length);
  }

  /** Resolves when all text written so far has been heard, when it is cancelled, or after MOST_HEARD_MS. */
  async untilHeard(clock: Clock): Promise<void> {
    const { length } = this.#written.trimEnd();
    for (let waited = 0; waited < MOST_HEARD_MS; waited += LOOK_MS) {
      if (this.signal.aborted || this.#shown.length >= length) return;
      await pause(clock, LOOK_MS);
    }
  }

  /** Splits `text`, a beginning of what was written, into the steps that wrote it; fillers stand before or behind it. */
  stepsOf(text: string): readonly SpokenStep[] {
    let from = 0;
    const steps: SpokenStep[] = this.#steps.map(({ end, ...step }) => {
      const part = text.slice(from, end);
      from = end;
      return { text: part, ...step };
    });
    const last = { text: text.slice(from), at: this.#begins ?? this.now(), calls: undefined };
    const lines = this.#fillers.map(({ line }) => line);
    const before = this.#leading;
    return [...lines.slice(0, before), ...steps, last, ...lines.slice(before)];
  }
}

/** A reply that nobody hears is shown as it is written. */
export const shown = (utterance: Utterance, captions: Pick<Captions, 'show'>): ReplyText => ({
  write: (text) => {
    const written = utterance.write(text);
    captions.show('agent', written);
    return written;
  },
  called: (calls) => utterance.called(calls),
  sure: utterance.sure,
});
