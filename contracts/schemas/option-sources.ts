/**
 * Reads native synthesis options for the compatibility layer (rule 4, docs/contract/decisions.md 1
 * and 2): from `X-Svc-*` headers and from objects in a body, with rule 3 for booleans, and in order of precedence.
 */
import { NATIVE_OPTIONS } from '../options/native.js';
import { decodeBase64 } from '../text/base64.js';
import { booleanOf } from './coerce.js';
import { ServiceError } from '../errors.js';
import { isPlainObject, type PlainObject } from './plain-object.js';
import { checker, withoutNulls } from './check.js';
import { invalidReferences, isReference, NativeOptions, Prosody } from './native-options.js';
import type { TSchema } from './type.js';

type OptionName = keyof NativeOptions;

const OPTION_NAMES = (Object.keys(NATIVE_OPTIONS) as readonly OptionName[]).filter(
  (name) => NATIVE_OPTIONS[name].effect === 'used',
);

const isBoolean = (schema: TSchema | undefined): boolean =>
  (schema as { readonly type?: unknown } | undefined)?.type === 'boolean';

/** Rule 3 for the boolean fields of an object; the schema refuses values that mean no boolean. */
function withBooleans(value: unknown, properties: Readonly<Record<string, TSchema>>): unknown {
  if (!isPlainObject(value)) return value;
  const coerced = Object.entries(value).map(([name, member]) => [
    name,
    isBoolean(properties[name]) ? (booleanOf(member) ?? member) : member,
  ]);
  return Object.fromEntries(coerced) as PlainObject;
}

/** Most opened brackets in one header: deeper nesting is no option, and would overflow the stack. */
const MOST_BRACKETS = 1000;

const nestsTooDeep = (text: string): boolean =>
  text.split(/[[{]/, MOST_BRACKETS + 2).length > MOST_BRACKETS + 1;

/** A voice id of digits only would parse as a number, and stays text. */
function headerValue(name: OptionName, text: string): unknown {
  if (nestsTooDeep(text)) return text;
  try {
    const parsed: unknown = JSON.parse(text);
    return name === 'reference_id' && typeof parsed === 'number' ? text : parsed;
  } catch {
    return text;
  }
}

function decodeReference(value: unknown): unknown {
  const { audio, text } = (value ?? {}) as { readonly audio?: unknown; readonly text?: unknown };
  return { audio: typeof audio === 'string' ? decodeBase64(audio) : undefined, text };
}

/**
 * Options whose reference audio is base64 in JSON, with the bytes in its place. `param`: the client's name of the field.
 * Errors: `invalid_request`.
 */
export function withDecodedReferences(options: NativeOptions, param: string): NativeOptions {
  if (options.references === undefined) return options;
  const references = Array.isArray(options.references) ? options.references.map(decodeReference) : undefined;
  if (!references?.every(isReference)) throw invalidReferences(param);
  return { ...options, references };
}

const checkOptions = checker(NativeOptions);

/** Checks one source of options; `spelled` gives the client's spelling of a field. Unknown fields are left out. */
function optionsFrom(source: PlainObject, spelled: (name: string) => string): NativeOptions {
  const known = Object.fromEntries(OPTION_NAMES.map((name) => [name, source[name]]));
  const present = withoutNulls(known) as { prosody?: unknown };
  const coerced = withBooleans(
    present.prosody === undefined
      ? present
      : { ...present, prosody: withBooleans(present.prosody, Prosody.properties) },
    NativeOptions.properties,
  );
  const checked = checkOptions(coerced);
  if (checked.ok) return withDecodedReferences(checked.value, spelled('references'));
  const [{ message, loc }] = checked.problems;
  throw new ServiceError('invalid_request', { message, param: spelled(loc.join('.')) });
}

/** `X-Svc-Chunk-Length` for `chunk_length`. */
export const headerName = (prefix: string, option: string): string =>
  prefix +
  option
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('-');

/** Whether the request carries any header with the prefix, known or not (rule 6). */
export function hasOptionHeaders(headers: ReadonlyMap<string, string>, prefix: string): boolean {
  const start = prefix.toLowerCase();
  for (const name of headers.keys()) if (name.startsWith(start)) return true;
  return false;
}

/**
 * Options from `X-Svc-<Param>` headers: JSON if it parses, else text; an empty one is absent, unknown names
 * are ignored. `prefix` as in the vocabulary, header names in lower case. Errors: `invalid_request`.
 */
export function optionsFromHeaders(headers: ReadonlyMap<string, string>, prefix: string): NativeOptions {
  if (!hasOptionHeaders(headers, prefix)) return {};
  const found = OPTION_NAMES.flatMap((name) => {
    const text = headers.get(headerName(prefix, name).toLowerCase())?.trim();
    return text ? [[name, headerValue(name, text)] as const] : [];
  });
  return optionsFrom(Object.fromEntries(found), (name) => headerName(prefix, name));
}

/** The fields of a source that no stronger one has; of prosody its own fields. */
function notOverruled(source: PlainObject, stronger: NativeOptions): PlainObject {
  const isLeft = ([name]: readonly [string, unknown]): boolean =>
    name === 'prosody' || stronger[name as OptionName] === undefined;
  const left = Object.fromEntries(Object.entries(source).filter(isLeft)) as PlainObject;
  const { prosody } = left;
  if (!stronger.prosody || !isPlainObject(prosody)) return left;
  const has = Object.keys(stronger.prosody);
  const own = Object.entries(prosody).filter(([name]) => !has.includes(name));
  return { ...left, prosody: Object.fromEntries(own) };
}

/**
 * Options from an object in a request's body at `path`, `provider.options.svc`. What a `stronger` source has is left out
 * unread: a value that has no effect is no reason to refuse. Errors: `invalid_request`.
 */
export function optionsFromObject(value: unknown, path: string, stronger: NativeOptions = {}): NativeOptions {
  const spelled = (name: string): string => [path, name].filter((part) => part !== '').join('.');
  if (value === undefined || value === null) return {};
  if (isPlainObject(value)) return optionsFrom(notOverruled(value, stronger), spelled);
  throw new ServiceError('invalid_request', { message: `${path} must be of type object`, param: path });
}

/** For each field the first source that has it wins; fields of prosody are merged individually. */
export const mergeOptions = (...strongestFirst: readonly NativeOptions[]): NativeOptions =>
  // Spread, not Object.assign: that would take a client's `__proto__` for the object's own prototype.
  strongestFirst.reduceRight<NativeOptions>(
    (weaker, options) => ({ ...weaker, ...options, prosody: { ...weaker.prosody, ...options.prosody } }),
    {},
  );
