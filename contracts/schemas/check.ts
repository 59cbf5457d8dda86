/**
 * Validation of external input against a TypeBox schema, with problems that a client
 * can act on. One table turns a schema keyword into a sentence; dialects report the first in their own format.
 */
// Not typebox/compile, which also loads everything that changes values, half as much code again.
import { Compile } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { isPlainObject, type PlainObject } from './plain-object.js';
import type { Static, TSchema } from './type.js';

/** Most problems reported of one value; only eight would hide others. */
const MAX_PROBLEMS = 100;
Settings.Set({ maxErrors: MAX_PROBLEMS });

export interface Problem {
  /** Location: field names and indexes from the root. */
  readonly loc: readonly (string | number)[];
  /** The schema keyword that failed: `required`, `enum`, `maximum` … */
  readonly type: string;
  readonly message: string;
}

export type CheckResultOf<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly [Problem, ...Problem[]] };

interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: PlainObject;
  readonly message: string;
}

const unescape = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

const tokens = (pointer: string): string[] => pointer.split('/').slice(1).map(unescape);

function resolve(root: unknown, pointer: string): unknown {
  return tokens(pointer).reduce<unknown>((value, key) => (value as PlainObject | undefined)?.[key], root);
}

const listed = (values: unknown): string =>
  (values as readonly unknown[]).map((value) => `\`${String(value)}\``).join(', ');

const shown = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? `\`${String(value).slice(0, 64)}\``
    : value === null
      ? 'null'
      : typeof value;

const interval = (row: PlainObject): string => `[${String(row['minimum'])}, ${String(row['maximum'])}]`;
const bounds = (low: unknown, high: unknown, unit: string): string =>
  `${String(low ?? 0)} to ${String(high ?? 'any number of')} ${unit}`;

const SENTENCES: Record<string, (field: string, row: PlainObject, value: unknown) => string> = {
  enum: (field, row, value) =>
    `unknown variant ${shown(value)} for ${field}, expected one of ${listed(row['enum'])}`,
  const: (field, row, value) =>
    `unknown variant ${shown(value)} for ${field}, expected ${listed([row['const']])}`,
  type: (field, row) => `${field} must be of type ${[row['type']].flat().join(' or ')}`,
  minimum: (field, row) => `${field} must be in ${interval(row)}`,
  maximum: (field, row) => `${field} must be in ${interval(row)}`,
  minLength: (field, row) => `${field} must have ${bounds(row['minLength'], row['maxLength'], 'characters')}`,
  maxLength: (field, row) => `${field} must have ${bounds(row['minLength'], row['maxLength'], 'characters')}`,
  minItems: (field, row) => `${field} must have ${bounds(row['minItems'], row['maxItems'], 'items')}`,
  maxItems: (field, row) => `${field} must have ${bounds(row['minItems'], row['maxItems'], 'items')}`,
  pattern: (field, row) => `${field} must match ${String(row['pattern'])}`,
};

/** Errors that only repeat another one: that one of several alternatives failed, that a field is unknown. */
const COLLECTIVE = new Set(['anyOf', 'boolean']);

function toProblems(error: SchemaError, schema: unknown, value: unknown, root: string): Problem[] {
  const loc = tokens(error.instancePath).map((token) => (/^\d+$/.test(token) ? Number(token) : token));
  const missing = error.params['requiredProperties'] as string[] | undefined;
  if (missing) {
    return missing.map((name) => ({
      loc: [...loc, name],
      type: 'required',
      message: `missing field ${name}`,
    }));
  }
  const unknown = error.params['additionalProperties'] as string[] | undefined;
  if (unknown) {
    return unknown.map((name) => ({
      loc: [...loc, name],
      type: error.keyword,
      message: `unknown field ${name}`,
    }));
  }
  const field = loc.length === 0 ? root : loc.join('.');
  const row = (resolve(schema, error.schemaPath.slice(1)) ?? {}) as PlainObject;
  const sentence = SENTENCES[error.keyword];
  const message = sentence
    ? sentence(field, row, resolve(value, error.instancePath))
    : `${field} ${error.message}`;
  return [{ loc, type: error.keyword, message }];
}

/**
 * Compiles a schema once, when the first value comes; the result checks values and never throws. `root` is the name
 * of the whole value.
 */
export function checker<S extends TSchema>(
  schema: S,
  root = 'the body',
): (value: unknown) => CheckResultOf<Static<S>> {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return { ok: true, value: value as Static<S> };
    const [, found] = compiled.Errors(value);
    const errors = found as unknown as SchemaError[];
    const [first, ...rest] = errors
      .filter(({ keyword }) => !COLLECTIVE.has(keyword))
      .flatMap((error) => toProblems(error, schema, value, root));
    return {
      ok: false,
      problems: [first ?? { loc: [], type: 'invalid', message: 'invalid value' }, ...rest],
    };
  };
}

/** A copy without null members at any depth of plain objects, for protocols in which null means absent. */
export function withoutNulls(value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member)]));
}
