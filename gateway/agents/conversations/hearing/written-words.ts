/**
 * The user's words as people write them (engines/text/written), by what the agent has asked for and by the words that its call expects:
 * the same for captions, the record, the turns and the model. The statechart, which judges turns, has them as they were heard.
 */
import type { AgentEffect } from '../../../../actors/agent/events.js';
import type { SpeechContext } from '../../../../contracts/ports/speech/stt.js';
import type { Perform } from '../../../../actors/run.js';
import { type Asked, fits, type Term, termsOf, writtenText } from '../../../../engines/text/written/index.js';
import type { AgentInCharge } from '../agent-in-charge.js';
import type { Dialogue } from '../dialogue.js';
import { askedIn, lastSentences } from './asked.js';

export interface WrittenWordsParts {
  readonly agent: Pick<AgentInCharge, 'language' | 'languages' | 'plan'>;
  readonly dialogue: Pick<Dialogue, 'saidUnanswered'>;
  /** What the user has heard of the agent's present answer; empty if there is none. */
  saying(): string;
}

const NO_TERMS: readonly string[] = [];
/** Messages of the agent's in a row, without an answer, in which a question is looked for. */
const MOST_MESSAGES = 3;

export class WrittenWords {
  #texts = NO_TERMS;
  #terms: readonly Term[] = [];

  constructor(private readonly parts: WrittenWordsParts) {}

  /** A text of the user's voice as it is written. */
  of(heard: string): string {
    if (heard === '') return heard;
    const { language } = this.parts.agent;
    return writtenText(heard, { language, asked: this.#asked, terms: this.#expected });
  }

  /** Whether the words hold what the agent has asked for, if that is an address or a spelling; true if it is neither. */
  fits(heard: string): boolean {
    return fits(heard, { language: this.parts.agent.language, asked: this.#asked });
  }

  /** What a recogniser may be told before it hears: the words that the call expects, and what the agent has asked. */
  get context(): SpeechContext {
    return { terms: this.#expected.map(({ text }) => text), before: lastSentences(this.#before.join(' ')) };
  }

  /** The agent's last messages: what it asks in one is open until the user has answered, whatever it says in the next. */
  get #before(): readonly string[] {
    return this.parts.dialogue.saidUnanswered(this.parts.saying()).slice(-MOST_MESSAGES);
  }

  get #asked(): ReadonlySet<Asked> {
    return new Set(this.#before.flatMap((said) => [...askedIn(said, this.parts.agent.language)]));
  }

  /** Performs effects with the user's words as they are written; typed ones stay as they are. */
  performing(perform: Perform<AgentEffect>): Perform<AgentEffect> {
    return (effect) => perform(this.#written(effect));
  }

  #written(effect: AgentEffect): AgentEffect {
    if (effect.type === 'words' || (effect.type === 'message' && !effect.typed))
      return { ...effect, text: this.of(effect.text) };
    if (effect.type === 'reply' && effect.draft !== undefined)
      return { ...effect, draft: this.of(effect.draft) };
    return effect;
  }

  /** The words that the call expects, made ready once. */
  get #expected(): readonly Term[] {
    const texts = this.parts.agent.plan.terms ?? NO_TERMS;
    if (texts !== this.#texts) this.#terms = termsOf(texts);
    this.#texts = texts;
    return this.#terms;
  }
}
