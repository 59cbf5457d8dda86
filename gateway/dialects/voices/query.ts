/**
 * Reads the query of `/model?…`. Values are text; an empty one counts as absent, and the last of a repeated scalar
 * wins. An empty `title` is kept, and refused, since it would match every voice.
 */
import { booleanOf } from '../../../contracts/schemas/coerce.js';
import { checked } from './checked.js';
import { ListQuery } from './schema.js';

const check = checked(ListQuery);

const numberOf = (text: string): number | string => (/^-?\d{1,9}$/.test(text) ? Number(text) : text);

type Read = (values: readonly string[]) => unknown;
const last =
  (read: (text: string) => unknown): Read =>
  (values) =>
    read(values.at(-1) ?? '');

const READERS: Readonly<Record<keyof ListQuery, Read>> = {
  page_size: last(numberOf),
  page_number: last(numberOf),
  title: last(String),
  tag: (values) => values,
  self: last((text) => booleanOf(text) ?? text),
  author_id: last(String),
  language: (values) => values,
  title_language: (values) => values,
  sort_by: last(String),
};

/** Errors: `invalid_request`. Unknown parameters are ignored. */
export function listQuery(query: URLSearchParams): ListQuery {
  const members = Object.entries(READERS).flatMap(([name, read]) => {
    const values = query.getAll(name).filter((value) => value !== '' || name === 'title');
    return values.length === 0 ? [] : [[name, read(values)]];
  });
  return check(Object.fromEntries(members));
}
