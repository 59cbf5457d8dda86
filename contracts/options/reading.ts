/** Reads the options of a request by the rows of the table. */
import { plainText } from '../text/text.js';
import { isUnset, numberFrom } from '../schemas/coerce.js';
import { ServiceError } from '../errors.js';
import { isPlainObject, type PlainObject } from '../schemas/plain-object.js';
import type { OptionRow, OptionRows, OptionPlace, OptionRefusal, Spelling, UsedOption } from './row.js';

const SPELLINGS: Readonly<Record<Spelling, (value: unknown) => unknown>> = {
  number: numberFrom,
  word: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
};

/** The value in its usual spelling. */
export const spelledOut = (value: unknown, { spelled }: Pick<OptionRow, 'spelled'>): unknown =>
  spelled === undefined ? value : SPELLINGS[spelled](value);

/** The fields, with the options that clients spell in several ways in their usual spelling. */
export const withSpellings = (fields: PlainObject, rows: OptionRows): PlainObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      Object.hasOwn(rows, name) ? spelledOut(value, rows[name]!) : value,
    ]),
  );

/** Whether an option is a list, of which every value counts. */
export const isList = (rows: OptionRows, name: string): boolean =>
  Object.hasOwn(rows, name) && rows[name]?.list === true;

/** Whether a word of a form or a query says nothing: it counts as unset, and is no value of this option. */
export function isAbsent(rows: OptionRows, name: string, word: string): boolean {
  const keeps = Object.hasOwn(rows, name) ? rows[name]?.keeps : undefined;
  return isUnset(word) && !keeps?.includes(word.trim().toLowerCase());
}

/** A query as an object: of a list every value, of any other name the last one. */
export const queryFields = (query: URLSearchParams, rows: OptionRows): PlainObject =>
  Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name);
      return [name, isList(rows, name) ? values : values.at(-1)];
    }),
  );

const wordOf = (value: unknown): string => plainText(value).trim().toLowerCase();

const isRefused = (value: unknown, { passes = [], only, evenUnset }: OptionRefusal): boolean => {
  if (value === undefined) return false;
  if (only) return only.includes(wordOf(value));
  return !passes.includes(value) && (evenUnset === true || !isUnset(value));
};

/** What a table says, found once: tables are constants. */
function ofTable<T>(find: (rows: OptionRows) => T): (rows: OptionRows) => T {
  const known = new WeakMap<OptionRows, T>();
  return (rows) => {
    const found = known.get(rows) ?? find(rows);
    known.set(rows, found);
    return found;
  };
}

const refusalOf = (row: OptionRow): OptionRefusal | undefined => ('refusal' in row ? row.refusal : undefined);

const refusalsIn = ofTable((rows) =>
  Object.entries(rows).flatMap(([param, row]) => {
    const refusal = refusalOf(row);
    return refusal ? [{ param, refusal }] : [];
  }),
);

/** Errors: `unsupported_option` for the first option of the rows that the fields request although it is refused. */
export function refuseOptions(fields: PlainObject, rows: OptionRows): void {
  for (const { param, refusal } of refusalsIn(rows))
    if (isRefused(fields[param], refusal))
      throw new ServiceError('unsupported_option', { message: refusal.why, param });
}

/** The options that stand in this place. */
export const rowsIn = (rows: OptionRows, place: OptionPlace): OptionRows =>
  Object.fromEntries(Object.entries(rows).filter(([, row]) => row.in.includes(place)));

const isLogged = (row: OptionRow): boolean => row.effect === 'ignored' && row.logged === true;

const loggedIn = ofTable((rows) => Object.keys(rows).filter((name) => isLogged(rows[name]!)));

/** The names of requested options that are ignored, as far as they are logged. */
export const loggedOptions = (fields: PlainObject, rows: OptionRows): readonly string[] =>
  loggedIn(rows).filter((name) => !isUnset(fields[name]));

const isShown = (row: OptionRow): boolean => row.effect === 'ignored' && row.shown === true;

/** The names of the options without effect that a session repeats, below a path. */
export const shownBelow = (rows: OptionRows, path: string): readonly string[] =>
  Object.entries(rows).flatMap(([name, row]) =>
    isShown(row) && name.startsWith(`${path}.`) ? [name.slice(path.length + 1)] : [],
  );

/** The properties of a schema for the used options of one place. */
export type UsedIn<R extends OptionRows, P extends OptionPlace> = {
  [
    N in keyof R as R[N] extends UsedOption<infer In>
      ? P extends In[number]
        ? N extends `${string}.${string}`
          ? never
          : N
        : never
      : never
  ]: R[N] extends UsedOption<readonly OptionPlace[], infer S> ? S : never;
};

const isMember = (name: string): boolean => name.includes('.');

/** Properties to check a body, a form or a query by: of the options that are used as they are, in the order of the rows. */
export const usedIn = <const R extends OptionRows, P extends OptionPlace>(rows: R, place: P): UsedIn<R, P> =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([name, row]) =>
      row.effect === 'used' && row.in.includes(place) && !isMember(name) ? [[name, row.schema]] : [],
    ),
  ) as unknown as UsedIn<R, P>;

/** The value at a path; undefined if an object on the way is absent. */
export function valueAt(fields: PlainObject, path: string): unknown {
  let value: unknown = fields;
  for (const name of path.split('.')) {
    if (!isPlainObject(value)) return undefined;
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** The objects on the way to the options of a table. */
const parentsIn = ofTable(
  (rows) =>
    new Set(
      Object.keys(rows).flatMap((path) => {
        const steps = path.split('.');
        return steps.slice(1).map((_, at) => steps.slice(0, at + 1).join('.'));
      }),
    ),
);

/** Paths of what is requested and has no row in the table. */
export const unlistedOptions = (fields: PlainObject, rows: OptionRows, below = ''): readonly string[] =>
  Object.entries(fields).flatMap(([name, value]) => {
    const path = `${below}${name}`;
    if (Object.hasOwn(rows, path) || isUnset(value)) return [];
    const isParent = isPlainObject(value) && parentsIn(rows).has(path);
    return isParent ? unlistedOptions(value, rows, `${path}.`) : [path];
  });
