/** Parts of the service's answers, to recorded audio and on sockets alike. */
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';

/** The first object of a list; empty if there is none. */
export const firstOf = (list: unknown): PlainObject => {
  const [first] = Array.isArray(list) ? (list as unknown[]) : [];
  return isPlainObject(first) ? first : {};
};

/** Words as they are written, with their marks, where the service writes them. */
export function writtenWords(words: unknown): readonly unknown[] {
  const all: readonly unknown[] = Array.isArray(words) ? words : [];
  return all.map((word) =>
    isPlainObject(word) ? { ...word, word: word['punctuated_word'] ?? word['word'] } : word,
  );
}
