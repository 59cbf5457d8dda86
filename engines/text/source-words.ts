/**
 * Words that an engine has spoken, as they stand in the text that was sent. An address is one word there, and several where it is
 * spoken: it is told when the last of them is known.
 */
import type { TimedWord } from '../../contracts/ports/speech/tts.js';
import type { Speakable } from './speakable.js';

interface Place {
  readonly from: number;
  readonly to: number;
}

export class SourceWords {
  /** Position in the spoken text after the last word. */
  #at = 0;
  /** A word that goes on. */
  #open: (Place & { readonly word: TimedWord }) | undefined;

  constructor(
    private readonly source: string,
    private readonly spoken: Speakable,
  ) {}

  /** Adds the engine's next word; the words that are known by it. */
  add(word: TimedWord): TimedWord[] {
    const place = this.#placeOf(word.text);
    if (!place) return [word];
    const open = this.#open;
    this.#open = undefined;
    const isSame = open !== undefined && place.from < open.to;
    const from = isSame ? open.from : place.from;
    const start = isSame ? open.word.start : word.start;
    const joined = { text: this.source.slice(from, place.to), start, end: word.end };
    const before = open && !isSame ? [open.word] : [];
    if (!this.#goesOn(place)) return [...before, joined];
    this.#open = { from, to: place.to, word: joined };
    return before;
  }

  /** A word that has not come to its end, after the last one. */
  rest(): TimedWord[] {
    const open = this.#open;
    this.#open = undefined;
    return open ? [open.word] : [];
  }

  #placeOf(word: string): Place | undefined {
    const { text, from, to } = this.spoken;
    const found = text.indexOf(word, this.#at);
    if (word === '' || found < 0) return undefined;
    this.#at = found + word.length;
    return { from: from[found]!, to: to[this.#at - 1]! };
  }

  /** Whether the next word stands for the same part of the source. */
  #goesOn({ to }: Place): boolean {
    const { text, from } = this.spoken;
    let next = this.#at;
    while (/\s/u.test(text[next] ?? '')) next += 1;
    return (from[next] ?? Infinity) < to;
  }
}
