/**
 * Decides whose words were heard: the user's go to the agent's machine; background and echo of the agent's own voice are
 * separated from them.
 */
import type { Clock } from '../../../../contracts/clock.js';
import type { CallEvent } from '../../../../contracts/ports/calls/calls.js';
import type { Detector, TurnListening } from '../../../../contracts/ports/speech/turns.js';
import type { Language } from '../../../../contracts/speech/languages.js';
import { SpokenLanguage } from '../hearing/spoken-language.js';
import { EchoFilter } from './echo.js';
import { SpokenAt } from './spoken-at.js';
import { TurnSound } from './turn-sound.js';
import type { HeardStretch } from './heard-stretch.js';
import { TurnTranscription, type TurnTranscriptionParts } from './turn-transcription.js';

/** What the agent does; empty: it has not begun. */
export type AgentState = 'listening' | 'thinking' | 'speaking' | '';

export interface ListeningParts extends TurnTranscriptionParts {
  /** The model that hears whether the user's turn is over, if there is one. */
  readonly turns?: TurnListening | undefined;
}

export interface ListeningSettings {
  readonly language: string;
  /** Those in which the user may speak, that one among them; with others the recogniser tells which it was. */
  readonly languages: readonly string[];
  /** Decides when a turn is over. */
  readonly detector: Detector;
  /** Whether noise is reduced before transcription. */
  readonly reducesNoise: boolean;
}

export interface ListeningEvents {
  /** The user's voice begins or ends; `at`: when it was spoken, in milliseconds of the clock; `silentMs`: how long it had been silent at that moment. */
  voice(active: boolean, at: number, silentMs?: number, over?: true): void;
  /** The user's words in a stretch of voice. Empty if there were none, or only `echo`, or if they are unknown. */
  transcript(heard: HeardStretch & { readonly echo?: true }): void;
  /** The words of the present stretch if it ends now, before that is certain; empty: it goes on. Never the agent's own. */
  foreseen?(span: number, text: string): void;
  /** The probability that the turn ended with that stretch of voice; undefined if unknown. */
  sounded(span: number, probability: number | undefined): void;
  /** The user has changed to that language; told before the transcript. */
  spoken(language: Language): void;
  /** Words that are not the user's. */
  aside(text: string, of: 'background' | 'echo'): void;
}

export class Listening {
  readonly #transcription: TurnTranscription;
  readonly #echo = new EchoFilter();
  readonly #spoken: SpokenAt;
  #language = new SpokenLanguage([], '');
  /** Undefined while the tables alone decide. */
  #sound: TurnSound | undefined;

  /** `ahead`: what the agent is about to say. */
  constructor(
    private readonly parts: ListeningParts,
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly ahead: () => string,
    private readonly on: ListeningEvents,
  ) {
    this.#spoken = new SpokenAt(clock);
    this.#transcription = new TurnTranscription(parts, {
      user: (heard) => this.#understand(heard),
      foreseen: (span, text) => {
        if (!this.#echo.isEcho(span, text, false, this.ahead())) this.on.foreseen?.(span, text);
      },
      background: (text) => {
        if (text !== '') on.aside(text, 'background');
      },
    });
  }

  speech({
    active,
    background = false,
    silentMs,
    at,
    over,
  }: Extract<CallEvent, { readonly kind: 'speech' }>): void {
    const spokenAt = this.#spoken.of(at);
    if (background) return this.#transcription.beginBackground();
    if (!active && this.#transcription.endBackground()) return;
    this.on.voice(active, spokenAt, silentMs, over);
  }

  /** Listens to the user like this from now on. Before the first call the tables decide when a turn is over. */
  attend({ language, languages, detector, reducesNoise }: ListeningSettings): void {
    this.#transcription.language = language;
    this.#transcription.languages = languages;
    this.#language = new SpokenLanguage(languages, language);
    this.#transcription.reducesNoise = reducesNoise;
    const { turns, caller } = this.parts;
    if (detector !== 'tables' && turns) {
      this.#sound ??= new TurnSound(turns.model, caller.workspaceId, (...told) => this.on.sounded(...told));
      return;
    }
    this.#sound?.goesOn();
    this.#sound = undefined;
  }

  audio(samples: Int16Array): void {
    this.#transcription.audio(samples);
  }

  /** The user has been silent for a moment, or speaks on. */
  shortPause(active: boolean): void {
    this.#transcription.shortPause(active);
  }

  /**
   * A stretch of the user's voice begins. `agent`: what the agent does, which the words may interrupt unless it listens; `joins`: the
   * first stretch that may be transcribed together with it.
   */
  begin(span: number, agent: AgentState, joins?: number): void {
    this.#echo.begins(span, this.clock.monotonic(), agent === 'speaking');
    this.#sound?.goesOn();
    this.#transcription.begin(span, joins, agent !== 'listening');
  }

  /** From now on the user's words are shown while they are spoken. */
  showWords(): void {
    this.#transcription.showsWords = true;
  }

  /** The stretch has ended: its final transcript follows. */
  transcribe(span: number): void {
    this.#echo.ends(span, this.clock.monotonic());
    void this.#sound?.ended(span, this.#transcription.heard);
    void this.#transcription.transcribe(span);
  }

  /** The user's turn has ended. */
  turnOver(): void {
    this.#sound?.turnOver();
  }

  /** The user has heard the agent say `text`. */
  agentSaid(text: string): void {
    this.#echo.said(text, this.clock.monotonic());
  }

  #understand(heard: HeardStretch): void {
    const { span, text, final } = heard;
    const isEcho = this.#echo.isEcho(span, text, final, this.ahead());
    if (isEcho && final) this.on.aside(text, 'echo');
    const changed = isEcho || !final ? undefined : this.#language.heard(text, heard.language);
    if (changed !== undefined) this.on.spoken(changed);
    this.on.transcript(isEcho ? { span, text: '', final, echo: true } : heard);
  }

  /** No more audio comes: resolves when everything is transcribed and reported. */
  finish(): Promise<void> {
    return this.#transcription.finish();
  }

  stop(): void {
    this.#sound?.goesOn();
    this.#transcription.stop();
  }
}
