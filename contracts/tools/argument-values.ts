/** Values of tools' arguments, as a model wrote them, by the type that the tool declares. */

export const ARGUMENT_TYPES = ['string', 'number', 'integer', 'boolean'] as const;
export type ArgumentType = (typeof ARGUMENT_TYPES)[number];

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

const written = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.trim() : undefined;

function numberIn(value: unknown): number | undefined {
  const text = written(value);
  const number = text !== undefined && NUMBER.test(text) ? Number(text) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Undefined: it is none. Models write numbers and booleans as text. */
const TYPED: Readonly<Record<ArgumentType, (value: unknown) => unknown>> = {
  // As it always was: templates take other values, too.
  string: (value) => value,
  number: numberIn,
  integer: (value) => {
    const number = numberIn(value);
    return Number.isSafeInteger(number) ? number : undefined;
  },
  boolean: (value) => {
    const text = written(value)?.toLowerCase() ?? '';
    return typeof value === 'boolean' ? value : Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : undefined;
  },
};

/** The value in its type; undefined if it is none of it. */
export const typedValue = (type: ArgumentType, value: unknown): unknown => TYPED[type](value);

type Choice = string | number;

const alike = (choice: Choice, value: unknown): boolean =>
  String(choice).toLowerCase() === String(value).trim().toLowerCase();

/** The one that is meant, whatever its case; undefined if it is none of them. */
export const chosen = (choices: readonly Choice[], value: unknown): Choice | undefined =>
  choices.find((choice) => choice === value) ??
  (typeof value === 'object' ? undefined : choices.find((choice) => alike(choice, value)));
