/**
 * The caller's words: told to the agent's statechart while the call runs, and put into the record, without an answer, once it ends. Words
 * that are not the caller's are only recorded.
 */
import type { AgentEvent } from '../../../actors/agent/events.js';
import type { OwedVoice } from '../../../actors/agent/turns/stretches.js';
import type { Log } from '../../../contracts/log.js';
import type { Language } from '../../../contracts/speech/languages.js';
import type { ConversationParts } from './conversation-parts.js';
import type { Dialogue } from './dialogue.js';
import { WrittenWords, type WrittenWordsParts } from './hearing/written-words.js';
import { LastWords, LAST_WORDS_MS } from './last-words.js';
import { Listening, type ListeningEvents } from './listening/listening.js';
import { pause } from './record.js';
import { recognising } from './turns/engine-usage.js';
import type { NoteTurn } from './turns/turn-events.js';

export interface CallerWordsParts extends Pick<ConversationParts, 'clock' | 'listening'>, WrittenWordsParts {
  readonly dialogue: Pick<Dialogue, 'userApart' | 'aside' | 'saidUnanswered'>;
  readonly log: Log;
  readonly note: NoteTurn;
  /** The user has changed to that language. */
  spoken(language: Language): void;
  /** What the agent is about to say. */
  ahead(): string;
  /** Whether the call is ending. */
  isOver(): boolean;
  /** Tells the agent's statechart. */
  tell(event: AgentEvent): void;
  /** What was said, if anything, is unknown: the code of the recogniser's failure. */
  unheard(code: string): void;
}

export class CallerWords {
  readonly listening: Listening;
  /** As they are written. */
  readonly written: WrittenWords;
  readonly #lastWords = new LastWords((text) => this.parts.dialogue.userApart(this.written.of(text)));

  constructor(private readonly parts: CallerWordsParts) {
    const { clock, log } = parts;
    this.written = new WrittenWords(parts);
    const recognised = recognising(parts.note);
    const ahead = (): string => parts.ahead();
    this.listening = new Listening(
      {
        ...parts.listening,
        ...{ log, recognised },
        fits: (text) => this.written.fits(text),
        context: () => this.written.context,
      },
      clock,
      ahead,
      this.#heard,
    );
  }

  readonly #heard: ListeningEvents = {
    voice: (active, at, silentMs, over) =>
      this.parts.tell({
        ...{ type: 'voice', active, at },
        ...(silentMs !== undefined && { silentMs }),
        ...(over && { over }),
      }),
    spoken: (language) => this.parts.spoken(language),
    transcript: ({ lost, language: _known, ...heard }) => {
      const { language, languages } = this.parts.agent;
      if (heard.final && languages.length > 1) this.parts.note({ type: 'spokenIn', language });
      if (lost !== undefined) this.parts.unheard(lost);
      const isLost = lost !== undefined && ({ lost: true } as const);
      if (!this.parts.isOver()) this.parts.tell({ type: 'transcript', ...heard, ...isLost });
      else this.#lastWords.heard(heard);
    },
    foreseen: (span, text) => {
      if (!this.parts.isOver()) this.parts.tell({ type: 'foreseen', span, text });
    },
    sounded: (span, probability) => this.parts.tell({ type: 'sounded', span, probability }),
    aside: (text, of) => {
      this.parts.dialogue.aside(text, of);
      if (of === 'echo' && !this.parts.isOver()) this.parts.tell({ type: 'echo' });
    },
  };

  /** The call ends while the words of these voices are still awaited. */
  owe(voices: readonly OwedVoice[]): void {
    this.#lastWords.owe(voices, this.parts.clock.monotonic());
  }

  /** No more is said. Resolves when the last words are known, or after LAST_WORDS_MS. Never rejects. */
  async finish(): Promise<void> {
    await Promise.race([this.listening.finish(), pause(this.parts.clock, LAST_WORDS_MS)]);
    this.listening.stop();
    this.#lastWords.close();
  }
}
