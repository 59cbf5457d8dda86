/**
 * Native options from the fields of protocols A and B: by the rows that map them, and in order of precedence (rule 4). A value
 * that a stronger place overrules is not read, so that it is no reason to refuse a request.
 */
import { checker } from '../schemas/check.js';
import type { NativeOptions } from '../schemas/native-options.js';
import { mergeOptions, optionsFromObject } from '../schemas/option-sources.js';
import { isPlainObject, type PlainObject } from '../schemas/plain-object.js';
import { invalid, valid } from '../schemas/valid.js';
import { spelledOut, valueAt } from './reading.js';
import type { MappedOption, OptionRow, OptionRows } from './row.js';

/** Where native options come from, the strongest place first; `body` is a request's own fields, wherever they stand. */
export const PRECEDENCE = ['header', 'provider.options', 'body'] as const;

/** Reads the options of a place; `stronger` has those that need not be read any more. */
export type Source = (stronger: NativeOptions) => NativeOptions;
export type Sources = Partial<Record<(typeof PRECEDENCE)[number], Source>>;

/** The options of all places. Errors: those of the sources. */
export const inOrder = (sources: Sources): NativeOptions =>
  PRECEDENCE.reduce<NativeOptions>(
    (stronger, place) => mergeOptions(stronger, sources[place]?.(stronger) ?? {}),
    {},
  );

/** Reads a value that is no plain one. Errors: `invalid_request`. */
type Reader = (value: unknown) => NativeOptions;

export interface Mapping {
  readonly rows: OptionRows;
  /** Whether the request came to the aggregator's base. */
  readonly aggregator?: boolean;
  /** By the name of an option. */
  readonly readers?: Readonly<Record<string, Reader>>;
}

/** The options of an object at a path of the native ones. */
const at = (path: string, value: unknown): NativeOptions =>
  path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as NativeOptions;

const checks = new WeakMap<MappedOption, ReturnType<typeof checker>>();

function checkOf(row: MappedOption, name: string): ReturnType<typeof checker> {
  const check = checks.get(row) ?? checker(row.schema, name);
  checks.set(row, check);
  return check;
}

/** The native value of a word. Errors: `invalid_request`. */
function wordValue(value: unknown, values: Readonly<Record<string, unknown>>, param: string): unknown {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (Object.hasOwn(values, word)) return values[word];
  throw invalid(`${param} must be one of ${Object.keys(values).join(', ')}`, param);
}

/** Errors: `invalid_request`. */
function plainValue(value: unknown, row: MappedOption, param: string): unknown {
  const plain = spelledOut(value, row);
  const leaf = param.slice(param.lastIndexOf('.') + 1);
  const checked: unknown = valid(checkOf(row, leaf)(plain), param);
  return row.convert ? row.convert(checked) : checked;
}

function nativeOf(value: unknown, row: MappedOption, name: string, { readers = {} }: Mapping): NativeOptions {
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (reader) return reader(value);
  if (row.to === name) return optionsFromObject({ [name]: value }, '');
  if (!row.values) return at(row.to, plainValue(value, row, name));
  const native = value === '' ? undefined : wordValue(value, row.values, name);
  return native === undefined ? {} : at(row.to, native);
}

/** Errors: `invalid_request` for an option whose parent is no object. */
function givenAt(fields: PlainObject, name: string): unknown {
  const parent = name.slice(0, Math.max(0, name.lastIndexOf('.')));
  const object = parent === '' ? fields : (valueAt(fields, parent) ?? {});
  if (!isPlainObject(object)) throw invalid(`${parent} must be of type object`, parent);
  return valueAt(fields, name) ?? undefined;
}

const isMapped = (row: OptionRow, aggregator: boolean): row is MappedOption =>
  row.effect === 'mapped' && (aggregator || row.aggregatorOnly !== true);

/** The native options that a request's own fields stand for. Null means absent. Errors: `invalid_request`. */
export function mappedOptions(fields: PlainObject, mapping: Mapping, stronger: NativeOptions): NativeOptions {
  let options: NativeOptions = {};
  for (const [name, row] of Object.entries(mapping.rows)) {
    if (!isMapped(row, mapping.aggregator ?? false)) continue;
    const value = givenAt(fields, name);
    const known = mergeOptions(stronger, options);
    if (value === undefined || valueAt(known, row.to) !== undefined) continue;
    options = mergeOptions(options, nativeOf(value, row, name, mapping));
  }
  return options;
}
