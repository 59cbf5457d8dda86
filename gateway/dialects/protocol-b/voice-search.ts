/**
 * One page of voices (docs/contract/protocol-b.md 6). A library is small (at most LIMITS.voice.perWorkspace voices and
 * those of the engines), so all of it is in memory and every total is exact. A page token names the last voice of the
 * previous page, so that voices added or removed meanwhile shift nothing, that voice included.
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { Voice } from '../../../contracts/ports/speech/voices.js';
import { checker } from '../../../contracts/schemas/check.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
import { languageCode } from './catalogue.js';
import { VoiceQuery } from './schema.js';
import { categoryOf, createdAt, labelsOf } from './voice-entity.js';

type Test = (voice: Voice) => boolean;
/** What decides a voice's place, in whatever order. */
type Place = Pick<Voice, 'id' | 'kind' | 'title' | 'createdAt'>;
type Order = (a: Place, b: Place) => number;

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const wordsOf = (voice: Voice): readonly string[] => [
  voice.title,
  voice.description,
  categoryOf(voice),
  ...Object.values(labelsOf(voice)),
];

/** Voices of engines belong to everybody, cloned ones to the workspace; there is no community. */
const TYPES: Readonly<Record<NonNullable<VoiceQuery['voice_type']>, readonly Voice['kind'][]>> = {
  default: ['engine'],
  personal: ['cloned'],
  workspace: ['cloned'],
  'non-default': ['cloned'],
  'non-community': ['cloned'],
  saved: ['cloned'],
  community: [],
};

const byLabel =
  (name: string, wanted: readonly string[] = []): Test =>
  (voice) =>
    wanted.some((value) => same(labelsOf(voice)[name] ?? '', value));

/** One filter per given parameter; a voice must pass all of them. */
function testsOf(query: VoiceQuery): Test[] {
  const { search = '', voice_type: type, category = '', voice_ids: ids = [] } = query;
  const text = search.toLowerCase();
  const languages = (query.language ?? []).map(languageCode);
  const rows: readonly (readonly [unknown, Test])[] = [
    [query.search, (voice) => wordsOf(voice).some((word) => word.toLowerCase().includes(text))],
    [type, ({ kind }) => type === undefined || TYPES[type].includes(kind)],
    [query.category, (voice) => same(categoryOf(voice), category)],
    [query.language, (voice) => voice.languages.some((language) => languages.includes(language))],
    [query.voice_ids, ({ id, aliases }) => ids.some((wanted) => wanted === id || aliases.includes(wanted))],
    [query.gender, byLabel('gender', [query.gender ?? ''])],
    [query.age, byLabel('age', [query.age ?? ''])],
    [query.accent, byLabel('accent', [query.accent ?? ''])],
    [query.use_cases, byLabel('use_case', query.use_cases)],
  ];
  return rows.filter(([asked]) => asked !== undefined).map(([, test]) => test);
}

const ORDERS: Readonly<
  Record<NonNullable<VoiceQuery['sort']>, { readonly ascending: Order; readonly usual: 1 | -1 }>
> = {
  name: { ascending: (a, b) => a.title.localeCompare(b.title), usual: 1 },
  created_at_unix: { ascending: (a, b) => createdAt(a) - createdAt(b), usual: -1 },
};

const SIGNS = { asc: 1, desc: -1 } as const;

/** The requested order; undefined for the library's own. */
function orderOf({ sort, sort_direction: direction }: VoiceQuery): Order | undefined {
  if (sort === undefined) return undefined;
  const { ascending, usual } = ORDERS[sort];
  const sign = direction === undefined ? usual : SIGNS[direction];
  return (a, b) => sign * ascending(a, b);
}

/** The library's own order, as far as cloned voices are concerned: behind those of engines, the newest first. */
const inLibrary: Order = (a, b) =>
  Number(a.kind === 'cloned') - Number(b.kind === 'cloned') ||
  b.createdAt.getTime() - a.createdAt.getTime() ||
  (a.id < b.id ? -1 : 1);

/** The id, and for a cloned voice its place, which is needed once it was removed or no longer fits the search. */
function tokenOf({ id, kind, title, createdAt: moment }: Voice): string {
  if (kind === 'engine') return id;
  return `${id}.${Buffer.from(JSON.stringify([moment.getTime(), title])).toString('base64url')}`;
}

/** The place that a token tells; undefined if it tells none. */
function placeIn(token: string): Place | undefined {
  const [id = '', place = ''] = token.split('.', 2);
  try {
    const [moment, title] = JSON.parse(Buffer.from(place, 'base64url').toString()) as [unknown, unknown];
    if (typeof moment !== 'number' || typeof title !== 'string') return undefined;
    return { id, kind: 'cloned', title, createdAt: new Date(moment) };
  } catch {
    return undefined;
  }
}

/** Index of the page's first voice. Errors: `invalid_request`. */
function startOf(voices: readonly Voice[], query: VoiceQuery): number {
  const { next_page_token: token } = query;
  if (token === undefined) return 0;
  const before = voices.findIndex(({ id }) => id === token.split('.', 1)[0]);
  if (before >= 0) return before + 1;
  const last = placeIn(token);
  if (!last) throw invalid('next_page_token is not one of this list', 'next_page_token');
  const order = orderOf(query);
  const next = voices.findIndex((voice) => (order?.(last, voice) || inLibrary(last, voice)) < 0);
  return next < 0 ? voices.length : next;
}

export interface VoicePage {
  readonly voices: readonly Voice[];
  readonly total: number;
  /** Undefined on the last page. */
  readonly next?: string;
}

/** Errors: `invalid_request` for a token of another list. */
export function pageOf(library: readonly Voice[], query: VoiceQuery): VoicePage {
  const tests = testsOf(query);
  const fitting = library.filter((voice) => tests.every((test) => test(voice)));
  const found = fitting.toSorted(orderOf(query) ?? (() => 0));
  const start = startOf(found, query);
  const voices = found.slice(start, start + (query.page_size ?? LIMITS.voice.pageSize.default));
  const last = voices.at(-1);
  const more = last !== undefined && start + voices.length < found.length;
  return { voices, total: found.length, ...(more ? { next: tokenOf(last) } : {}) };
}

const check = checker(VoiceQuery);

const LISTS: ReadonlySet<string> = new Set<keyof VoiceQuery>(['language', 'use_cases', 'voice_ids']);

const numberOf = (text: string): number | string => (/^-?\d{1,9}$/.test(text) ? Number(text) : text);

function valueOf(name: string, values: readonly string[]): unknown {
  if (LISTS.has(name)) return values;
  const last = values.at(-1) ?? '';
  return name === 'page_size' ? numberOf(last) : last;
}

/** Unknown and empty parameters are ignored; the last of a repeated scalar counts. Errors: `invalid_request`. */
export function voiceQuery(query: URLSearchParams): VoiceQuery {
  const members = Object.keys(VoiceQuery.properties).flatMap((name) => {
    const values = query.getAll(name).filter((value) => value !== '');
    return values.length === 0 ? [] : [[name, valueOf(name, values)]];
  });
  return valid(check(Object.fromEntries(members)));
}
