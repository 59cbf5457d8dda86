/**
 * Finds transcripts of the user that are the agent's own words: compares each with what the agent said during it and
 * shortly before. A word or two of the agent's count as the user's the first time; if only that comes again, it is echo,
 * cut that short because the voice was held at once.
 */
import { type EchoVerdict, likenessOf } from '../../../../actors/agent/turns/echo.js';
import { wordsOf } from '../../../../actors/agent/turns/interruption.js';

/** The agent's words from this long before a stretch of voice until this long after it may come back in it. In milliseconds. */
const BEFORE_MS = 1500;
const BEHIND_MS = 700;
/** A stretch that begins later than this after the agent's last word has no echo. */
const JUST_BEHIND_MS = 1000;
/** Most words that count as said although the playout has not reported them yet. */
const NEXT_WORDS = 8;
/** Most parts of the agent's speech that are remembered; there are a few each second. */
const MOST_PARTS = 400;

interface Stretch {
  readonly from: number;
  until: number;
  /** It began while the agent spoke, or just after. */
  readonly overlaps: boolean;
}

export class EchoFilter {
  #said: { readonly text: string; readonly at: number }[] = [];
  readonly #stretches = new Map<number, Stretch>();
  #repetitions = 0;

  /** The user has heard the agent say `text`. Times are milliseconds of one clock. */
  said(text: string, at: number): void {
    this.#said = [...this.#said.slice(1 - MOST_PARTS), { text, at }];
  }

  /** A stretch of the user's voice begins; `speaking`: the agent speaks. */
  begins(span: number, at: number, speaking: boolean): void {
    const overlaps = speaking || (this.#said.at(-1)?.at ?? -Infinity) >= at - JUST_BEHIND_MS;
    this.#stretches.set(span, { from: at, until: Infinity, overlaps });
  }

  ends(span: number, at: number): void {
    const stretch = this.#stretches.get(span);
    if (stretch) stretch.until = at;
  }

  /** Whether a transcript of that stretch is echo; `next`: what the agent is about to say. Takes each final one once. */
  isEcho(span: number, text: string, final: boolean, next: string): boolean {
    const likeness = this.#likenessOf(span, text, next);
    const repetitions = this.#repetitions;
    if (final) this.#forget(span, likeness, text);
    return likeness === 'echo' || (likeness === 'repetition' && repetitions > 0);
  }

  #likenessOf(span: number, text: string, next: string): EchoVerdict {
    const stretch = this.#stretches.get(span);
    if (!stretch?.overlaps) return 'own';
    const { from, until } = stretch;
    const said = this.#said.filter(({ at }) => at >= from - BEFORE_MS && at <= until + BEHIND_MS);
    const coming = wordsOf(next).slice(0, NEXT_WORDS).join(' ');
    return likenessOf(text, [...said.map((part) => part.text), coming].join(' '));
  }

  #forget(span: number, likeness: EchoVerdict, text: string): void {
    this.#stretches.delete(span);
    if (likeness === 'repetition') this.#repetitions += 1;
    else if (text !== '' && likeness === 'own') this.#repetitions = 0;
  }
}
