/**
 * Splits a transcript into phrases, and writes subtitles of them (docs/contract/protocol-a.md 2.3; docs/contract/decisions.md
 * "Protocol A": segments of verbose_json are the same phrases). A phrase ends with a sentence, at a pause, or before it
 * gets too long to read; times are in seconds, ascend and never overlap.
 */
import type { Transcript } from '../contracts/ports/speech/speech.js';
import type { TimedWord } from '../contracts/ports/speech/tts.js';

export interface Phrase {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Silence between two words that starts a new phrase, in seconds. */
const PAUSE = 0.8;
/** The longest phrase: two lines of 42 columns, and seconds on the screen. */
const COLUMNS = 84;
const SECONDS = 7;
/** Columns from which a subtitle may end at a clause's end. */
const ENOUGH_COLUMNS = 42;
/** The shortest phrase, in seconds, for engines whose times give it no duration. */
const LEAST_SECONDS = 0.001;

/** Most characters between two words, so that a word missing from the text is not found far later. */
const NEAR = 64;

const SENTENCE_END = /[.!?…。！？｡]["'”’»)\]」』）】]*$/u;
const CLAUSE_END = /[,;:、，；：]["'”’»)\]」』）】]*$/u;
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uff60]/u;

/** Wide scripts take two columns a character. */
const columnsOf = (text: string): number =>
  [...text].reduce((columns, character) => columns + (WIDE.test(character) ? 2 : 1), 0);

/** Most characters of marks that belong to the word after them. */
const MOST_MARKS = 16;
/** Marks right before a word: any after white space (`"`, `$`), otherwise only those that open something (`¿`, `(`). */
const OPENING = /(?:(?<=\s)[^\s\p{L}\p{N}]+|[\p{Ps}\p{Pi}¿¡]+)$/u;

/** The start of the marks that open a word at `at`; `after` is the end of the word before. */
function openingOf(text: string, after: number, at: number): number {
  const between = text.slice(Math.max(after, at - MOST_MARKS), at);
  const isStart = after === 0 && at <= MOST_MARKS;
  const marks = OPENING.exec(isStart ? ` ${between}` : between)?.[0] ?? '';
  return at - marks.length;
}

interface PlacedWord extends TimedWord {
  /** The word as written in the transcript, with the marks around it and the white space after it. */
  readonly written: string;
}

/** Adds to each word the text up to the next one; a word that the transcript does not contain is followed by a blank. */
function placeWords(text: string, words: readonly TimedWord[]): PlacedWord[] {
  let cursor = 0;
  const starts = words.map((word) => {
    const near = text.slice(cursor, cursor + NEAR + word.text.length).indexOf(word.text);
    if (near < 0) return -1;
    const at = cursor + near;
    const start = openingOf(text, cursor, at);
    cursor = at + word.text.length;
    return start;
  });
  return words.map((word, index) => {
    const from = starts[index] ?? -1;
    const next = index + 1 < words.length ? (starts[index + 1] ?? -1) : text.length;
    return { ...word, written: from >= 0 && next >= 0 ? text.slice(from, next) : `${word.text} ` };
  });
}

const writtenOf = (words: readonly PlacedWord[]): string =>
  words
    .map(({ written }) => written)
    .join('')
    .replace(/\s+/gu, ' ')
    .trim();

function isFull(line: readonly PlacedWord[], next: PlacedWord): boolean {
  const [first] = line;
  const last = line.at(-1);
  if (!first || !last) return false;
  const text = writtenOf(line);
  if (SENTENCE_END.test(text) || next.start - last.end >= PAUSE || next.end - first.start > SECONDS)
    return true;
  const columns = columnsOf(text);
  return (
    columns + columnsOf(next.written.trimEnd()) >= COLUMNS ||
    (columns >= ENOUGH_COLUMNS && CLAUSE_END.test(text))
  );
}

function* linesOf(words: readonly PlacedWord[]): Generator<readonly PlacedWord[]> {
  let line: PlacedWord[] = [];
  for (const word of words) {
    if (isFull(line, word)) {
      yield line;
      line = [];
    }
    line.push(word);
  }
  if (line.length > 0) yield line;
}

const phraseOf = (line: readonly PlacedWord[]): Phrase => ({
  text: writtenOf(line),
  start: line[0]?.start ?? 0,
  end: line.at(-1)?.end ?? 0,
});

/** Makes times ascend, whatever the engine returned. */
function inOrder(phrases: readonly Phrase[]): Phrase[] {
  let earliest = 0;
  return phrases.map(({ text, start, end }) => {
    const from = Math.max(start, earliest);
    earliest = Math.max(end, from + LEAST_SECONDS);
    return { text, start: from, end: earliest };
  });
}

/** The phrases of a transcript: made of its words if it has any, else its segments. */
export function phrasesOf({
  text,
  words,
  segments,
}: Pick<Transcript, 'text' | 'words' | 'segments'>): Phrase[] {
  const phrases = words?.length ? Array.from(linesOf(placeWords(text, words)), phraseOf) : segments;
  return inOrder(phrases.filter((phrase) => phrase.text.trim() !== ''));
}

/** `01:02:03,004` */
function timestamp(seconds: number, point: ',' | '.'): string {
  const ms = Math.round(seconds * 1000);
  const part = (unit: number, base: number, digits = 2): string =>
    String(Math.floor(ms / unit) % base).padStart(digits, '0');
  const hours = String(Math.floor(ms / 3_600_000)).padStart(2, '0');
  return `${hours}:${part(60_000, 60)}:${part(1000, 60)}${point}${part(1, 1000, 3)}`;
}

const span = ({ start, end }: Phrase, point: ',' | '.'): string =>
  `${timestamp(start, point)} --> ${timestamp(end, point)}`;

const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim();

const VTT_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeVtt = (text: string): string =>
  text.replace(/[&<>]/g, (character) => VTT_ENTITIES[character] ?? '');

/** SubRip: numbered cues, commas before the milliseconds. Empty if there are no phrases. */
export const toSrt = (phrases: readonly Phrase[]): string =>
  phrases.map((phrase, index) => `${index + 1}\n${span(phrase, ',')}\n${oneLine(phrase.text)}\n\n`).join('');

/** WebVTT. */
export const toVtt = (phrases: readonly Phrase[]): string =>
  `WEBVTT\n\n${phrases.map((phrase) => `${span(phrase, '.')}\n${escapeVtt(oneLine(phrase.text))}\n\n`).join('')}`;
