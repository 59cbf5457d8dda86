/** Transcripts in which the words that a client expects take the place of what was heard nearly the same (text/written/terms.ts). */
import type { TranscriptionRequest } from '../contracts/ports/speech/speech.js';
import type { SpeechContext } from '../contracts/ports/speech/stt.js';
import type { TimedWord } from '../contracts/ports/speech/tts.js';
import { share } from './alignment/transcript-words.js';
import type { TimedSegment } from './long-audio.js';
import { replacedBy, type Term, withTerms } from './text/written/terms.js';
import { textOf, wordsOf } from './text/written/words.js';

/** The words with their times: those of a term share the time of what it stands for. */
function expectedWords(words: readonly TimedWord[], terms: readonly Term[]): readonly TimedWord[] {
  const heard = words.map(({ text }) => wordsOf(text)[0] ?? { before: '', core: text, after: '' });
  const all = [...words];
  for (const { at, count, text } of replacedBy(heard, terms).toReversed()) {
    const [first, last] = [heard[at]!, heard[at + count - 1]!];
    const written = `${first.before}${text}${last.after}`.split(' ');
    all.splice(at, count, ...share(written, { start: words[at]!.start, end: words[at + count - 1]!.end }));
  }
  return all;
}

export function expectedText(text: string, terms: readonly Term[]): string {
  if (terms.length === 0) return text;
  const words = wordsOf(text);
  const found = withTerms(words, terms);
  return found === words ? text : textOf(found);
}

export function expectedSegment(segment: TimedSegment, terms: readonly Term[]): TimedSegment {
  const text = expectedText(segment.text, terms);
  if (text === segment.text) return segment;
  return { ...segment, text, ...(segment.words && { words: expectedWords(segment.words, terms) }) };
}

/** What an engine is told before it hears; undefined if nothing is expected. */
export function contextOf({
  terms = [],
  context,
}: Pick<TranscriptionRequest, 'terms' | 'context'>): SpeechContext | undefined {
  const all = [...terms, ...(context?.terms ?? [])];
  const before = context?.before ?? '';
  return all.length === 0 && before === '' ? undefined : { terms: all, ...(before !== '' && { before }) };
}
