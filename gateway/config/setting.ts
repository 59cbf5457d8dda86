/**
 * One environment variable as a value: its parser, and its text for help and documentation. The functions
 * are the kinds of values; tables of them make up the configuration.
 */
import { LANGUAGE_CODES, type LanguageCode } from '../../contracts/speech/languages.js';

export type Env = Readonly<Record<string, string | undefined>>;

/** An error in the configuration, in one line that names the variable. */
export class ConfigError extends Error {}

/** The help text of a variable. */
export interface Described {
  readonly env: string;
  /** One sentence. */
  readonly meaning: string;
  /** Accepted values, in words. */
  readonly kind: string;
  /** The default in words, if the value itself does not tell. */
  readonly shown: string;
  /** Its value is never printed. */
  readonly secret: boolean;
}

export interface Setting<T> extends Described {
  readonly initial: T;
  /** Errors: `ConfigError`. */
  parse(raw: string): T;
}

type Details = Partial<Pick<Described, 'shown' | 'secret'>>;

const fail = (env: string, wanted: string): never => {
  throw new ConfigError(`${env} must be ${wanted}`);
};

const inWords = (initial: unknown): string => {
  if (initial === undefined || (Array.isArray(initial) && initial.length === 0)) return 'none';
  return String(initial).replaceAll(',', ', ');
};

type Kind<T> = Pick<Setting<T>, 'env' | 'initial' | 'kind' | 'meaning' | 'parse'>;

const setting = <T>(kind: Kind<T>, details: Details = {}): Setting<T> => ({
  shown: inWords(kind.initial),
  secret: false,
  ...kind,
  ...details,
});

/** Without a default the value is optional. */
type Text<Initial> = string | Extract<Initial, undefined>;

export const text = <Initial extends string | undefined>(
  env: string,
  initial: Initial,
  meaning: string,
  details?: Details,
): Setting<Text<Initial>> =>
  setting<Text<Initial>>(
    { env, initial: initial as Text<Initial>, meaning, kind: 'text', parse: (raw) => raw },
    details,
  );

/** Text that is never printed. */
export const secret = (env: string, meaning: string, details?: Details): Setting<string | undefined> =>
  text(env, undefined, meaning, { ...details, secret: true });

const PRINTABLE = /^[\x21-\x7e]+$/;

/** A secret that is sent in a header. White space around it, such as the line break of a file, is no part of it. */
export const credential = (env: string, meaning: string): Setting<string | undefined> =>
  setting<string | undefined>(
    {
      env,
      initial: undefined,
      meaning,
      kind: 'text',
      parse: (raw) => (PRINTABLE.test(raw.trim()) ? raw.trim() : fail(env, 'printable ASCII without blanks')),
    },
    { secret: true },
  );

/** A file or folder, relative to the working directory. */
export const path: typeof text = (env, initial, meaning, details) => ({
  ...text(env, initial, meaning, details),
  kind: 'path',
});

type Bounds = readonly [min: number, max: number];

const wholeNumber = ([min, max]: Bounds): string => `a whole number from ${min} to ${max}`;

const parseCount =
  (env: string, bounds: Bounds) =>
  (raw: string): number => {
    // Digits only: Number() takes blanks for 0, which may mean "none" or "for ever".
    const value = /^\d+$/.test(raw.trim()) ? Number(raw) : Number.NaN;
    const fits = value >= bounds[0] && value <= bounds[1];
    return fits ? value : fail(env, wholeNumber(bounds));
  };

/** A whole number within bounds, both included. */
export const count = (
  env: string,
  initial: number,
  bounds: Bounds,
  meaning: string,
  details?: Details,
): Setting<number> =>
  setting(
    { env, initial, meaning, kind: `${bounds[0]} to ${bounds[1]}`, parse: parseCount(env, bounds) },
    details,
  );

/** A whole number, or no limit at all. */
export const optionalCount = (env: string, meaning: string, details?: Details): Setting<number | undefined> =>
  setting(
    {
      env,
      initial: undefined,
      meaning,
      kind: 'whole number',
      parse: parseCount(env, [0, Number.MAX_SAFE_INTEGER]),
    },
    details,
  );

export const choice = <T extends string>(
  env: string,
  initial: T,
  values: readonly T[],
  meaning: string,
  details?: Details,
): Setting<T> =>
  setting(
    {
      env,
      initial,
      meaning,
      kind: values.join(', '),
      parse: (raw) => values.find((value) => value === raw) ?? fail(env, `one of ${values.join(', ')}`),
    },
    details,
  );

const itemsOf = (raw: string): readonly string[] =>
  raw
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

export const list = (
  env: string,
  initial: readonly string[],
  meaning: string,
  details?: Details,
): Setting<readonly string[]> =>
  setting(
    {
      env,
      initial,
      meaning,
      kind: 'comma-separated',
      parse: (raw) => (itemsOf(raw).length > 0 ? itemsOf(raw) : initial),
    },
    details,
  );

/** A list whose items all have the form; `wanted`: what they are, in words. */
export const items = (
  env: string,
  form: RegExp,
  wanted: string,
  meaning: string,
): Setting<readonly string[]> =>
  setting({
    env,
    initial: [],
    meaning,
    kind: wanted,
    parse: (raw) => itemsOf(raw).map((item) => (form.test(item) ? item : fail(env, wanted))),
  });

/** A list of names, each of which stands for its value. */
export const named = <T>(
  env: string,
  values: Readonly<Record<string, T>>,
  meaning: string,
): Setting<readonly T[]> => {
  const names = Object.keys(values).join(', ');
  return setting<readonly T[]>({
    env,
    initial: [],
    meaning,
    kind: names,
    parse: (raw) =>
      itemsOf(raw).map((name) => (Object.hasOwn(values, name) ? values[name]! : fail(env, names))),
  });
};

const CODES = 'ISO 639-1 codes, such as en, de, ru';

export const languages = (
  env: string,
  meaning: string,
  details?: Details,
): Setting<readonly LanguageCode[] | undefined> =>
  setting<readonly LanguageCode[] | undefined>(
    {
      env,
      initial: undefined,
      meaning,
      kind: CODES,
      parse: (raw) => itemsOf(raw).map((code) => (LANGUAGE_CODES.includes(code) ? code : fail(env, CODES))),
    },
    details,
  );

/** Parsers of URLs drop blanks, which other readers of the value would keep. */
const isUrl = (raw: string): boolean => !/\s/.test(raw) && URL.canParse(raw);

const addressOf =
  (pattern: RegExp, words: string) =>
  (env: string, meaning: string, details?: Details): Setting<string | undefined> =>
    setting<string | undefined>(
      {
        env,
        initial: undefined,
        meaning,
        kind: words,
        parse: (raw) =>
          pattern.test(raw) && isUrl(raw)
            ? raw.replace(/\/+$/, '')
            : fail(env, `${/^[aeioh]/.test(words) ? 'an' : 'a'} ${words}`),
      },
      details,
    );

/** The URL of a bucket and a prefix in it, without a trailing slash. */
export const bucketAddress = addressOf(
  /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w!.*'()/-]*)?$/,
  'address such as s3://bucket/prefix',
);

/** A URL without its trailing slash. */
export const address = addressOf(/^https?:\/\/[^/]+/, 'http(s) address');

const WITH_BARE_IPV6 = /^(https?:\/\/)([\da-f]*(?::[\da-f]*){2,}):(\d{1,5})$/i;

/** A URL whose host is often put in by a program, as Kubernetes does, which gives IPv6 addresses no brackets. */
export const nodeAddress: typeof address = (env, meaning, details) => {
  const setting = address(env, meaning, details);
  return { ...setting, parse: (raw) => setting.parse(raw.replace(WITH_BARE_IPV6, '$1[$2]:$3')) };
};

export const socketAddress = addressOf(/^wss?:\/\/[^/]+/, 'ws(s) address');

/** One or several URLs of equivalent services. */
export const addresses = (
  env: string,
  meaning: string,
  details?: Details,
): Setting<readonly string[] | undefined> => {
  const { parse } = address(env, meaning);
  const kind = 'http(s) addresses, comma-separated';
  const each = (raw: string) => itemsOf(raw).flatMap((item) => parse(item) ?? []);
  return setting<readonly string[] | undefined>(
    {
      env,
      initial: undefined,
      meaning,
      kind,
      parse: (raw) => (each(raw).length > 0 ? each(raw) : undefined),
    },
    details,
  );
};

/** A value with a parser of its own, which returns undefined for invalid text. `wanted` describes valid text, `kind` briefly. */
export const parsed = <T>(
  env: string,
  initial: T,
  { parse, wanted, kind }: { parse(raw: string): T | undefined; wanted: string; kind: string },
  meaning: string,
  details?: Details,
): Setting<T> =>
  setting({ env, initial, meaning, kind, parse: (raw) => parse(raw) ?? fail(env, wanted) }, details);

/** JSON that `isShape` accepts and `wanted` describes. */
export const json = <T>(
  env: string,
  initial: T,
  wanted: string,
  isShape: (value: unknown) => value is T,
  meaning: string,
  details?: Details,
): Setting<T> =>
  setting(
    {
      env,
      initial,
      meaning,
      kind: 'JSON',
      parse(raw) {
        try {
          const value: unknown = JSON.parse(raw);
          if (isShape(value)) return value;
        } catch {
          // falls through to the one message
        }
        return fail(env, wanted);
      },
    },
    details,
  );

type Values<Table> = { readonly [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never };

export type Table = Readonly<Record<string, Setting<unknown>>>;

/** Reads the values of a table; empty variables count as unset. Errors: `ConfigError`. */
export const readTable = <T extends Table>(table: T, env: Env): Values<T> =>
  Object.fromEntries(
    Object.entries(table).map(([name, { env: variable, initial, parse }]) => {
      const raw = env[variable];
      return [name, raw === undefined || raw === '' ? initial : parse(raw)];
    }),
  ) as Values<T>;
