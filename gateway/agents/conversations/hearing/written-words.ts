/**
 * The user's words as people write them (engines/text/written), by what the agent has asked for and by the words that its call expects:
 * the same for captions, the record, the turns and the model. The statechart, which judges turns, has them as they were heard.
 */
import type { AgentEffect } from '../../../../actors/agent/events.js';
import type { SpeechContext } from '../../../../contracts/ports/speech/stt.js';
import type { Perform } from '../../../../actors/run.js';
import { fits, type Term, termsOf, writtenText } from '../../../../engines/text/written/index.js';
import type { AgentInCharge } from '../agent-in-charge.js';
import type { Dialogue } from '../dialogue.js';
import { askedIn, lastSentences } from './asked.js';

export interface WrittenWordsParts {
  readonly agent: Pick<AgentInCharge, 'language' | 'languages' | 'plan'>;
  readonly dialogue: Pick<Dialogue, 'lastSaid'>;
  /** What the user has heard of the agent's present answer; empty if there is none. */
  saying(): string;
}

const NO_TERMS: readonly string[] = [];

export class WrittenWords {
  #texts = NO_TERMS;
  #terms: readonly Term[] = [];

  constructor(private readonly parts: WrittenWordsParts) {}

  /** A text of the user's voice as it is written. */
  of(heard: string): string {
    if (heard === '') return heard;
    const { language } = this.parts.agent;
    const asked = askedIn(this.#before, language);
    return writtenText(heard, { language, asked, terms: this.#expected });
  }

  /** Whether the words hold what the agent has asked for, if that is an address or a spelling; true if it is neither. */
  fits(heard: string): boolean {
    const { language } = this.parts.agent;
    return fits(heard, { language, asked: askedIn(this.#before, language) });
  }

  /** What a recogniser may be told before it hears: the words that the call expects, and what the agent has asked. */
  get context(): SpeechContext {
    return { terms: this.#expected.map(({ text }) => text), before: lastSentences(this.#before) };
  }

  /** The agent's last words. */
  get #before(): string {
    return this.parts.saying() || this.parts.dialogue.lastSaid;
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
