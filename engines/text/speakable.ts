/**
 * Text as any engine may be given it: what is not spoken is taken out once, before every engine and on every surface, with the
 * place in the source of each character that is left, so that times of words speak of the text as it was sent.
 */
import type { LanguageCode } from '../../contracts/speech/languages.js';
import { hasSound } from '../backends/sound.js';
import { GAP, type SpokenInstead, ruleOf, searchRules } from './speakable-rules.js';

export interface SpeakableOptions {
  readonly language?: LanguageCode;
  /** Whether the engine knows style tags, and is given them. */
  readonly styleTags?: boolean;
  /** Whether the text begins a line; absent: yes. */
  readonly beginsLine?: boolean;
}

/** The spoken text, and for each of its UTF-16 units the range of the source that it stands for. */
export interface Speakable {
  readonly text: string;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

const WORD = /[\p{L}\p{N}]/u;
const LETTER = /\p{L}/u;
const CLOSING = /[,.;:!?…]/u;
const BLANK = /^\s$/u;

/** Characters that are looked at in one step. */
const SLICE = 1024;

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

const characterBefore = (text: string, index: number): string =>
  index <= 0
    ? ''
    : isLow(text.charCodeAt(index - 1))
      ? text.slice(Math.max(0, index - 2), index)
      : text[index - 1]!;
const characterAt = (text: string, index: number): string =>
  index >= text.length ? '' : String.fromCodePoint(text.codePointAt(index)!);

/** Who is told what of a source is spoken. Ranges are of the source's UTF-16 units. */
interface Reader {
  readonly source: string;
  /** Whether the rest need not be read. */
  readonly isDone: boolean;
  /** The source itself. */
  copy(from: number, to: number): void;
  /** Other words for a part of the source. */
  write(text: string, from: number, to: number): void;
  leaveOut(from: number, to: number): void;
}

/** Writes the spoken text, and closes the gaps in it. */
class Spoken implements Reader {
  readonly isDone = false;
  readonly #units: string[] = [];
  readonly from: number[] = [];
  readonly to: number[] = [];
  /** Something was left out since the last character. */
  #gap = false;

  constructor(readonly source: string) {}

  get last(): string {
    return this.#units.at(-1) ?? '';
  }

  copy(from: number, to: number): void {
    for (let at = from; at < to; at += 1) this.#put(this.source[at]!, at, at + 1);
  }

  write(text: string, from: number, to: number): void {
    for (const unit of text.split('')) this.#put(unit, from, to);
  }

  leaveOut(from: number, to: number): void {
    const [before, after] = [this.last, characterAt(this.source, to)];
    if (WORD.test(after) && (WORD.test(before) || (CLOSING.test(before) && LETTER.test(after))))
      this.#put(' ', from, to);
    this.#gap = true;
  }

  #put(unit: string, from: number, to: number): void {
    if (this.#gap && BLANK.test(unit) && (this.last === '' || BLANK.test(this.last))) return;
    if (this.#gap && CLOSING.test(unit) && this.last === ' ') this.#pop();
    this.#gap &&= BLANK.test(unit);
    this.#units.push(unit);
    this.from.push(from);
    this.to.push(to);
  }

  #pop(): void {
    this.#units.pop();
    this.from.pop();
    this.to.pop();
  }

  done(): Speakable {
    while (BLANK.test(this.last)) this.#pop();
    return { text: this.#units.join(''), from: this.from, to: this.to };
  }
}

const isLineStart = (text: string, index: number, beginsLine: boolean): boolean =>
  index === 0 ? beginsLine : text[index - 1] === '\n' || text[index - 1] === '\r';

/** Looks for something that sounds, and no further. */
class Sound implements Reader {
  isDone = false;

  constructor(readonly source: string) {}

  copy(from: number, to: number): void {
    for (let at = from; at < to && !this.isDone; at += SLICE)
      // One unit more, as the slice may end within a surrogate pair.
      this.isDone = hasSound(this.source.slice(at, Math.min(at + SLICE + 1, to)));
  }

  write(text: string): void {
    this.isDone ||= hasSound(text);
  }

  leaveOut(): void {
    // Makes no sound.
  }
}

/** Tells the reader what of its source is spoken, in order, until it is done. */
function read(
  reader: Reader,
  { language = 'en', styleTags = false, beginsLine = true }: SpeakableOptions,
): void {
  const { source: text } = reader;
  const search = searchRules();
  let at = 0;
  for (let found = search.exec(text); found && !reader.isDone; found = search.exec(text)) {
    const [match, ...groups] = found;
    const { index } = found;
    const end = index + match.length;
    reader.copy(at, index);
    const around = { before: characterBefore(text, index), after: characterAt(text, end) };
    const line = isLineStart(text, index, beginsLine);
    const instead = ruleOf(groups).instead({ match, ...around, beginsLine: line, language, styleTags });
    at = put(reader, instead, index, end);
    search.lastIndex = at;
  }
  reader.copy(at, text.length);
}

/** The text without what is not spoken. */
export function speakable(text: string, options: SpeakableOptions = {}): Speakable {
  const spoken = new Spoken(text);
  read(spoken, options);
  return spoken.done();
}

/** A run of one sign that is text stays whole; of other text the first character alone, as the next match may begin in it. */
const RUN = /^(?:\*+|_+)$/u;

/** Puts what is spoken for a match, without a bracket that is no tag's; the end of what it stands for. */
function put(spoken: Reader, instead: SpokenInstead, index: number, end: number): number {
  const { source: text } = spoken;
  if (instead === GAP) spoken.leaveOut(index, end);
  else if (instead !== undefined) spoken.write(instead, index, end);
  else if (text[index] === '[') return index + 1;
  else {
    const until = RUN.test(text.slice(index, end)) ? end : index + characterAt(text, index).length;
    spoken.copy(index, until);
    return until;
  }
  return end;
}

/** Whether something of the text is spoken; read no further than to there. */
export function isHeard(text: string, beginsLine = true): boolean {
  if (!hasSound(text)) return false;
  const sound = new Sound(text);
  read(sound, { beginsLine });
  return sound.isDone;
}
