/**
 * A row of the table of options: where a request may carry an option, and what becomes of it. Every option that a client's
 * SDK can send has a row, so that none is dropped in silence.
 */
import type { TSchema } from '../schemas/type.js';

/** Where a request may carry an option: `message` is a frame of a socket, `session` the session of a `session.update`. */
export type OptionPlace = 'header' | 'provider.options' | 'body' | 'form' | 'query' | 'message' | 'session';

/** Lenient spellings that clients use: a number in text, a word in capitals. */
export type Spelling = 'number' | 'word';

interface Located<P extends readonly OptionPlace[] = readonly OptionPlace[]> {
  readonly in: P;
  readonly spelled?: Spelling;
  /** In forms and queries every value of the name counts, not only the last one. */
  readonly list?: true;
  /** Words that are values of this option, although rule 3 counts them as unset. */
  readonly keeps?: readonly string[];
  /** Only protocol A's base for aggregators reads it; the others ignore it. */
  readonly aggregatorOnly?: true;
  /** For a session: the option's name at the top level in the older shape, which is read as well. */
  readonly older?: string;
  /** For a session: null is a value, and does not mean absent. */
  readonly nullable?: true;
  /** For a session: sessions that only transcribe have the option, too. */
  readonly transcribes?: true;
}

/** Why an option, or a value of it, is refused. */
export interface OptionRefusal {
  /** The message that the client gets. */
  readonly why: string;
  /** Values that request only what happens anyway. */
  readonly passes?: readonly unknown[];
  /** The only words that are refused, for an option that does harm only by them. */
  readonly only?: readonly string[];
  /** Whether a value is refused even if it counts as unset by rule 3. */
  readonly evenUnset?: true;
}

/** The dialect reads the option. */
export interface UsedOption<
  P extends readonly OptionPlace[] = readonly OptionPlace[],
  S extends TSchema = TSchema,
> extends Located<P> {
  readonly effect: 'used';
  /** What it must be. */
  readonly schema: S;
  /** Values that are refused before the schema is asked. */
  readonly refusal?: OptionRefusal;
}

/** The option stands for a native one. */
export interface MappedOption extends Located {
  readonly effect: 'mapped';
  /** Path of the native option. */
  readonly to: string;
  /** What it must be; not asked if a stronger place has the native option (rule 4). */
  readonly schema: TSchema;
  /** How the value of the native option is found, in words; as it is, if absent. */
  readonly note?: string;
  /** The native value of each word; undefined leaves the native option to its default. */
  readonly values?: Readonly<Record<string, unknown>>;
  convert?(value: unknown): unknown;
}

/** The option changes neither the sound nor the words. */
export interface IgnoredOption extends Located {
  readonly effect: 'ignored';
  /** Why it has no effect. */
  readonly note: string;
  /** Whether a request for it is logged, since somebody may wonder. */
  readonly logged?: true;
  /** Whether a session repeats its value, since clients compare what they have set. */
  readonly shown?: true;
}

/** The option would change the sound or the words, and cannot be had. */
export interface RefusedOption extends Located {
  readonly effect: 'refused';
  readonly refusal: OptionRefusal;
}

export type OptionRow = UsedOption | MappedOption | IgnoredOption | RefusedOption;

/** The options of one surface by name; a member of an object by its path, `voice_settings.speed`. */
export type OptionRows = Readonly<Record<string, OptionRow>>;

type Details<Row extends OptionRow> = Partial<Omit<Row, 'in' | 'effect' | 'schema'>>;

export const used = <const P extends readonly OptionPlace[], S extends TSchema>(
  places: P,
  schema: S,
  details: Details<UsedOption> = {},
): UsedOption<P, S> => ({ in: places, effect: 'used', schema, ...details });

export const mapped = (
  places: readonly OptionPlace[],
  to: string,
  schema: TSchema,
  details: Partial<Omit<MappedOption, 'in' | 'effect' | 'schema' | 'to'>> = {},
): MappedOption => ({ in: places, effect: 'mapped', to, schema, ...details });

export const ignored = (
  places: readonly OptionPlace[],
  note: string,
  details: Details<IgnoredOption> = {},
): IgnoredOption => ({ in: places, effect: 'ignored', note, ...details });

export const refused = (
  places: readonly OptionPlace[],
  why: string,
  details: Omit<OptionRefusal, 'why'> & Details<RefusedOption> = {},
): RefusedOption => {
  const { passes, only, evenUnset, ...located } = details;
  const refusal = { why, ...(passes && { passes }), ...(only && { only }), ...(evenUnset && { evenUnset }) };
  return { in: places, effect: 'refused', ...located, refusal };
};

/** A row for each name, all ignored for the same reason. */
export const allIgnored = <const N extends string>(
  names: readonly N[],
  places: readonly OptionPlace[],
  note: string,
): Readonly<Record<N, IgnoredOption>> =>
  Object.fromEntries(names.map((name) => [name, ignored(places, note)])) as Record<N, IgnoredOption>;
