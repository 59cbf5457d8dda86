/**
 * One page of the voice library: filters, order, page. A library is small (at most LIMITS.voice.perWorkspace voices
 * and those of the engines), so all of it is in memory and every total is exact.
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { Voice } from '../../../contracts/ports/speech/voices.js';
import { entityOf } from './entity.js';
import type { ListQuery, ModelPage } from './schema.js';

const { pageSize } = LIMITS.voice;

type Test = (voice: Voice) => boolean;

const sameWord = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const holds =
  (words: readonly string[]) =>
  (wanted: string): boolean =>
    words.some((word) => sameWord(word, wanted));

/** One filter per given parameter; a voice must pass all of them. */
function testsOf(query: ListQuery): Test[] {
  const { title, tag, self, author_id: author, language, title_language: titleLanguage } = query;
  const tests: [unknown, Test][] = [
    [title, (voice) => voice.title.toLowerCase().includes((title ?? '').toLowerCase())],
    [tag, (voice) => (tag ?? []).every(holds(voice.tags))],
    [self, (voice) => !self || voice.kind === 'cloned'],
    [author, (voice) => voice.author.id === author],
    [language, (voice) => (language ?? []).some(holds(voice.languages))],
    [titleLanguage, (voice) => holds(titleLanguage ?? [])(voice.titleLanguage)],
  ];
  return tests.filter(([asked]) => asked !== undefined).map(([, test]) => test);
}

/** `score` and `task_count` keep the library's own order, since nothing here is scored or counted. */
const ordered = (voices: readonly Voice[], by: ListQuery['sort_by']): readonly Voice[] =>
  by === 'created_at' ? [...voices].sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime()) : voices;

export function pageOf(voices: readonly Voice[], query: ListQuery): ModelPage {
  const { page_size: size = pageSize.default, page_number: number = 1, sort_by: by } = query;
  const tests = testsOf(query);
  const found = ordered(
    voices.filter((voice) => tests.every((test) => test(voice))),
    by,
  );
  const total = found.length;
  return {
    total,
    items: found.slice((number - 1) * size, number * size).map(entityOf),
    has_more: number * size < total,
    total_is_exact: true,
    window_limited: false,
    max_offset: total,
    accessible_upper_bound: total,
  };
}
