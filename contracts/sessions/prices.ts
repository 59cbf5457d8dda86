/** The cost of a call, by the operator's prices at the creation of its session. */
import { isPlainObject } from '../schemas/plain-object.js';
import type { Usage } from './turns.js';

/** Prices of a million tokens that a language model reads and writes. */
export interface TokenPrices {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
}

/** Prices in units of the currency; absent means free. */
export interface Prices extends TokenPrices {
  /** Shown beside amounts: EUR, USD, … */
  readonly currency: string;
  /** Of tokens by the language model's name; a price that one leaves out is that of all others. */
  readonly models?: Readonly<Record<string, TokenPrices>>;
  /** A thousand characters synthesised. */
  readonly characters?: number;
  /** A minute of audio recognised, and of the call. */
  readonly recognition_minute?: number;
  readonly call_minute?: number;
}

const MINUTE_MS = 60_000;

/** The priced kinds of usage, and the quantity that one price buys. */
const UNITS = {
  input_tokens: 1e6,
  output_tokens: 1e6,
  characters: 1000,
  recognition_minute: MINUTE_MS,
  call_minute: MINUTE_MS,
} as const;

type Priced = keyof typeof UNITS;

const TOKENS = ['input_tokens', 'output_tokens'] as const;

const PRICED = Object.keys(UNITS) as Priced[];
const CURRENCY = /^[A-Za-z]{1,8}$/;

const isPrice = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

const arePricesOf = (names: readonly string[], value: object): boolean =>
  Object.entries(value).every(([name, price]) => names.includes(name) && isPrice(price));

/** Models with prices of their own. They are kept with each session. */
const MOST_MODELS = 100;

function areModels(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MOST_MODELS &&
    entries.every(([name, prices]) => name !== '' && isPlainObject(prices) && arePricesOf(TOKENS, prices))
  );
}

export function isPrices(value: unknown): value is Prices {
  if (!isPlainObject(value)) return false;
  const { currency, models = {}, ...prices } = value;
  return (
    typeof currency === 'string' &&
    CURRENCY.test(currency) &&
    areModels(models) &&
    arePricesOf(PRICED, prices)
  );
}

/** In units of the currency, to a millionth. */
export type Cost = Readonly<Record<Priced, number>> & { readonly currency: string; readonly total: number };

const rounded = (amount: number): number => Math.round(amount * 1e6) / 1e6;

const COUNTS = { input_tokens: 'inputTokens', output_tokens: 'outputTokens' } as const;

const priceOf = (name: keyof typeof COUNTS, model: string, { models = {}, ...prices }: Prices): number =>
  (Object.hasOwn(models, model) ? models[model]?.[name] : undefined) ?? prices[name] ?? 0;

/** Tokens by the prices of their models, times a million; those of no known model by the price of all others. */
function tokensCost(name: keyof typeof COUNTS, usage: Usage, prices: Prices): number {
  const { models = [] } = usage;
  const known = models.reduce((sum, each) => sum + each[COUNTS[name]], 0);
  return models.reduce(
    (sum, each) => sum + each[COUNTS[name]] * priceOf(name, each.model, prices),
    (usage[COUNTS[name]] - known) * (prices[name] ?? 0),
  );
}

/** The cost of a call of this many milliseconds. The total is the sum of the rounded parts. */
export function costOf(usage: Usage, callMs: number, prices: Prices): Cost {
  const { characters = 0, recognition_minute: minute = 0, call_minute: callMinute = 0 } = prices;
  const amounts = {
    input_tokens: tokensCost('input_tokens', usage, prices),
    output_tokens: tokensCost('output_tokens', usage, prices),
    characters: usage.characters * characters,
    recognition_minute: usage.recognisedMs * minute,
    call_minute: callMs * callMinute,
  };
  const parts = Object.fromEntries(
    PRICED.map((name) => [name, rounded(amounts[name] / UNITS[name])]),
  ) as Record<Priced, number>;
  const total = rounded(PRICED.reduce((sum, name) => sum + parts[name], 0));
  return { currency: prices.currency, total, ...parts };
}
