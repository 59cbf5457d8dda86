/**
 * `?cursor` or `?page`, `page_size`, `include_total`, and the answer of a list (docs/contract/platform.md 6.2). A cursor
 * names its list, so that no other list accepts it. An empty parameter counts as absent.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Listed, PageRequest } from '../../../contracts/ports/page.js';
import { type TSchema, Type } from '../../../contracts/schemas/type.js';
import { isLonger } from '../../../contracts/text/text.js';
import type { RouteDescription } from '../../server/port.js';

const { size, offset: maxOffset } = LIMITS.page;
/** A position is a positive 63-bit number. */
const POSITION = /^[1-9]\d{0,17}$/;
const WHOLE = /^\d{1,9}$/;

/** Errors in a query are 400, unlike those of a body. */
export const badQuery = (param: string, message: string): ServiceError =>
  new ServiceError('invalid_request', { message, param });

/** The parameter; undefined if it is absent or empty. If it is repeated, the last counts. */
export const parameter = (query: URLSearchParams, name: string): string | undefined =>
  query.getAll(name).at(-1) || undefined;

const FLAGS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

/** Errors: `invalid_request`. */
export function flagOf(query: URLSearchParams, name: string, initial: boolean): boolean {
  const text = parameter(query, name);
  if (text === undefined) return initial;
  const flag = Object.hasOwn(FLAGS, text) ? FLAGS[text] : undefined;
  if (flag === undefined) throw badQuery(name, `${name} must be true or false`);
  return flag;
}

/** Errors: `invalid_request`. */
export function oneOf<T extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly T[],
): T | undefined {
  const text = parameter(query, name);
  if (text === undefined) return undefined;
  const found = values.find((value) => value === text);
  if (found === undefined) throw badQuery(name, `${name} must be one of ${values.join(', ')}`);
  return found;
}

/** Errors: `invalid_request`, also for NUL, which no database stores in text. */
export function textOf(query: URLSearchParams, name: string, maxLength: number): string | undefined {
  const text = parameter(query, name) ?? '';
  if (isLonger(text, maxLength)) throw badQuery(name, `${name} must have at most ${maxLength} characters`);
  if (text.includes('\0')) throw badQuery(name, `${name} holds NUL, which is no text`);
  return text || undefined;
}

/** Where a number's plus is missing: not written, or not encoded, which arrives as a blank. */
const LOST_PLUS = /^ ?(?=\d)/;

/** A telephone number, or a SIP address. Errors: those of `textOf`. */
export const numberOf = (query: URLSearchParams, name: string): string | undefined =>
  textOf(query, name, LIMITS.session.phoneNumber)?.replace(LOST_PLUS, '+');

/** Errors: `invalid_request`. */
export function wholeOf(query: URLSearchParams, name: string, min: number, max: number): number | undefined {
  const text = parameter(query, name);
  if (text === undefined) return undefined;
  const value = WHOLE.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max)) throw badQuery(name, `${name} must be in [${min}, ${max}]`);
  return value;
}

const encodeCursor = (list: string, position: string): string =>
  Buffer.from(`${list}:${position}`).toString('base64url');

function decodeCursor(list: string, cursor: string): string {
  const [name, position = ''] = Buffer.from(cursor.slice(0, 256), 'base64url').toString('latin1').split(':');
  const fits = name === list && POSITION.test(position) && encodeCursor(list, position) === cursor;
  if (!fits) throw badQuery('cursor', 'cursor is not one that this list gave out');
  return position;
}

/**
 * The requested page. `list` names the list in its cursors. Errors: `invalid_request` for a size or page out of range,
 * both modes at once, or a cursor of another list.
 */
export function pageRequest(query: URLSearchParams, list: string): PageRequest {
  const rows = wholeOf(query, 'page_size', size.min, size.max) ?? size.default;
  const cursor = parameter(query, 'cursor');
  const page = wholeOf(query, 'page', 1, 999_999_999);
  const total = flagOf(query, 'include_total', false);
  if (cursor !== undefined && page !== undefined)
    throw badQuery('page', 'cursor and page are mutually exclusive');
  if (cursor !== undefined) return { size: rows, offset: 0, after: decodeCursor(list, cursor), total };
  const offset = ((page ?? 1) - 1) * rows;
  if (offset > maxOffset) throw badQuery('page', `page must not reach behind ${maxOffset} rows`);
  return { size: rows, offset, total: total || page !== undefined };
}

/** The body of a page, with its rows under `plural`. */
export function pageBody<Row>(
  list: string,
  plural: string,
  listed: Listed<Row>,
  show: (row: Row) => object,
): object {
  const { rows, next, total } = listed;
  return {
    [plural]: rows.map(show),
    has_more: next !== null,
    next_cursor: next === null ? null : encodeCursor(list, next),
    total,
  };
}

const exampleOf = (row: TSchema): object | undefined =>
  (row as { readonly examples?: readonly object[] }).examples?.[0];

/** The schema of a page; `example` is that of a row, by default the row schema's own. */
export const Page = (plural: string, row: TSchema, example: object | undefined = exampleOf(row)) =>
  Type.Object(
    {
      [plural]: Type.Array(row),
      has_more: Type.Boolean(),
      next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
      total: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'Null in cursor mode, unless include_total asks for it.',
      }),
    },
    { examples: [{ [plural]: example ? [example] : [], has_more: false, next_cursor: null, total: null }] },
  );

/** The search filter. Errors: those of `textOf`. */
export function searchOf(query: URLSearchParams): { readonly search?: string } {
  const search = textOf(query, 'search', LIMITS.agent.search);
  return search === undefined ? {} : { search };
}

export const SEARCH: NonNullable<RouteDescription['parameters']>[number] = {
  name: 'search',
  in: 'query',
  description: 'In name and description',
  schema: { type: 'string', maxLength: LIMITS.agent.search },
};

/** The paging parameters, for /openapi.json. */
export const PAGING: NonNullable<RouteDescription['parameters']> = [
  {
    name: 'cursor',
    in: 'query',
    description: 'The `next_cursor` of the page before. Not together with `page`.',
    schema: { type: 'string' },
  },
  {
    name: 'page',
    in: 'query',
    description: `Counts from 1; at most ${maxOffset} rows may lie before it.`,
    schema: { type: 'integer', minimum: 1 },
  },
  {
    name: 'page_size',
    in: 'query',
    schema: { type: 'integer', minimum: size.min, maximum: size.max, default: size.default },
  },
  { name: 'include_total', in: 'query', schema: { type: 'boolean', default: false } },
];
