/** The cost of a call, by the operator's prices at the creation of its session. */
import { KEPT } from '../ports/speech/kept-speech.js';
import { isPlainObject } from '../schemas/plain-object.js';
import type { EngineUsage, Usage } from './turns.js';

/** Prices of a million tokens that a language model reads and writes. */
export interface TokenPrices {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
}

/** Prices of speech engines, in the units in which services bill. */
export interface SpeechPrices {
  /** A thousand characters synthesised. */
  readonly characters?: number;
  /** A minute of speech that was synthesised. */
  readonly speech_minute?: number;
  /** A minute of audio recognised. */
  readonly recognition_minute?: number;
}

export interface EnginePrices extends SpeechPrices {
  /** By the service's model; what one leaves out is as for the engine. */
  readonly models?: Readonly<Record<string, SpeechPrices>>;
}

/** Prices in units of the currency; absent means free. */
export interface Prices extends TokenPrices, SpeechPrices {
  /** Shown beside amounts: EUR, USD, … */
  readonly currency: string;
  /** Of tokens by the language model's name; a price that one leaves out is that of all others. */
  readonly models?: Readonly<Record<string, TokenPrices>>;
  /** Of speech by the engine's name, or its kind; what one leaves out is as for all others. */
  readonly engines?: Readonly<Record<string, EnginePrices>>;
  /** A minute of the call. */
  readonly call_minute?: number;
}

const MINUTE_MS = 60_000;

/** The priced kinds of usage, and the quantity that one price buys. */
const UNITS = {
  input_tokens: 1e6,
  output_tokens: 1e6,
  characters: 1000,
  speech_minute: MINUTE_MS,
  recognition_minute: MINUTE_MS,
  call_minute: MINUTE_MS,
} as const;

type Priced = keyof typeof UNITS;

const PRICED = Object.keys(UNITS) as Priced[];
const TOKENS = ['input_tokens', 'output_tokens'] as const;

/**
 * Prices of speech, and of recognition: who has one of a group is billed by that group of its own alone, so that an engine that bills
 * minutes does not also cost what others cost by characters.
 */
const SPEECH = ['characters', 'speech_minute'] as const;
const RECOGNITION = ['recognition_minute'] as const;

const CURRENCY = /^[A-Za-z]{1,8}$/;

/** Names with prices of their own in one list. They are kept with each session. */
const MOST_NAMES = 100;

/** Members of an object of prices: prices, and objects whose members have names of the operator's. */
interface Shape {
  readonly prices: readonly string[];
  readonly named?: Readonly<Record<string, Shape>>;
}

const OF_SPEECH: Shape = { prices: [...SPEECH, ...RECOGNITION] };
const SHAPE: Shape = {
  prices: PRICED,
  named: { models: { prices: TOKENS }, engines: { ...OF_SPEECH, named: { models: OF_SPEECH } } },
};

const isPrice = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

function problemInNames(value: unknown, shape: Shape, path: string): string | undefined {
  if (!isPlainObject(value)) return `${path} must be an object, with prices by name`;
  const entries = Object.entries(value);
  if (entries.length > MOST_NAMES) return `${path} must have at most ${MOST_NAMES} names`;
  if (Object.hasOwn(value, '')) return `${path} must not have an empty name`;
  return firstProblem(entries, ([name, row]) => problemIn(row, shape, `${path}.${name}`));
}

function problemIn(value: unknown, { prices, named = {} }: Shape, path = ''): string | undefined {
  if (!isPlainObject(value)) return `${path} must be an object of prices`;
  return firstProblem(Object.entries(value), ([name, part]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const shape = Object.hasOwn(named, name) ? named[name] : undefined;
    if (shape) return problemInNames(part, shape, at);
    if (!prices.includes(name))
      return `${at} is no price; there are ${[...prices, ...Object.keys(named)].join(', ')}`;
    return isPrice(part) ? undefined : `${at} must be a number from 0 on`;
  });
}

function firstProblem<T>(items: readonly T[], look: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = look(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** What is wrong with a value that should be prices, and where; undefined: nothing. */
export function pricesProblem(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'it must be an object in JSON';
  const { currency, ...prices } = value;
  if (typeof currency !== 'string' || !CURRENCY.test(currency))
    return 'currency must be 1 to 8 letters, such as EUR';
  return problemIn(prices, SHAPE);
}

export const isPrices = (value: unknown): value is Prices => pricesProblem(value) === undefined;

/** In units of the currency, to a millionth. */
export type Cost = Readonly<Record<Priced, number>> & { readonly currency: string; readonly total: number };

const rounded = (amount: number): number => Math.round(amount * 1e6) / 1e6;

const COUNTS = { input_tokens: 'inputTokens', output_tokens: 'outputTokens' } as const;

const rowOf = <Row>(rows: Readonly<Record<string, Row>> | undefined, name: string): Row | undefined =>
  rows && Object.hasOwn(rows, name) ? rows[name] : undefined;

const priceOf = (name: keyof typeof COUNTS, model: string, { models, ...prices }: Prices): number =>
  rowOf(models, model)?.[name] ?? prices[name] ?? 0;

/** Tokens by the prices of their models, times a million; those of no known model by the price of all others. */
function tokensCost(name: keyof typeof COUNTS, usage: Usage, prices: Prices): number {
  const { models = [] } = usage;
  const known = models.reduce((sum, each) => sum + each[COUNTS[name]], 0);
  return models.reduce(
    (sum, each) => sum + each[COUNTS[name]] * priceOf(name, each.model, prices),
    (usage[COUNTS[name]] - known) * (prices[name] ?? 0),
  );
}

/** Prices that may be those of an engine's work, the closest first: its model's, its own, those of its kind (`sherpa` of `sherpa/kokoro-en`), all others'. */
function rowsFor({ engine, model }: EngineUsage, prices: Prices): readonly SpeechPrices[] {
  const [kind = engine] = engine.split('/', 1);
  const rows = [...new Set([engine, kind])].map((name) => rowOf(prices.engines, name));
  return [
    ...rows.flatMap((row) => [model === null ? undefined : rowOf(row?.models, model), row]),
    // Nobody bills what was kept.
    engine === KEPT.engine ? undefined : prices,
  ].filter((row) => row !== undefined);
}

/** The prices of one group by which that work is billed; none if it is free. */
const groupFor = (group: readonly (keyof SpeechPrices)[], work: EngineUsage, prices: Prices): SpeechPrices =>
  rowsFor(work, prices).find((row) => group.some((name) => row[name] !== undefined)) ?? {};

const AMOUNTS = {
  characters: ['characters', SPEECH],
  speech_minute: ['spokenMs', SPEECH],
  recognition_minute: ['recognisedMs', RECOGNITION],
} as const satisfies Readonly<
  Record<keyof SpeechPrices, readonly [keyof EngineUsage, readonly (keyof SpeechPrices)[]]>
>;

/** Work of engines by their prices, times the unit; that of no known engine by the price of all others. */
function speechCost(name: keyof SpeechPrices, all: number, usage: Usage, prices: Prices): number {
  const { engines = [] } = usage;
  const [amount, group] = AMOUNTS[name];
  const known = engines.reduce((sum, work) => sum + work[amount], 0);
  return engines.reduce(
    (sum, work) => sum + work[amount] * (groupFor(group, work, prices)[name] ?? 0),
    Math.max(0, all - known) * (prices[name] ?? 0),
  );
}

/** The cost of a call of this many milliseconds. The total is the sum of the rounded parts. */
export function costOf(usage: Usage, callMs: number, prices: Prices): Cost {
  const amounts = {
    input_tokens: tokensCost('input_tokens', usage, prices),
    output_tokens: tokensCost('output_tokens', usage, prices),
    characters: speechCost('characters', usage.characters, usage, prices),
    speech_minute: speechCost('speech_minute', 0, usage, prices),
    recognition_minute: speechCost('recognition_minute', usage.recognisedMs, usage, prices),
    call_minute: callMs * (prices.call_minute ?? 0),
  };
  const parts = Object.fromEntries(
    PRICED.map((name) => [name, rounded(amounts[name] / UNITS[name])]),
  ) as Record<Priced, number>;
  const total = rounded(PRICED.reduce((sum, name) => sum + parts[name], 0));
  return { currency: prices.currency, total, ...parts };
}
