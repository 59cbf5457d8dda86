/** The cost of a call, by the operator's prices at the creation of its session. */
import { isPlainObject } from '../schemas/plain-object.js';
import type { Usage } from './turns.js';

/** Prices in units of the currency; absent means free. */
export interface Prices {
  /** Shown beside amounts: EUR, USD, … */
  readonly currency: string;
  /** A million tokens that the language model reads and writes. */
  readonly input_tokens?: number;
  readonly output_tokens?: number;
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

const PRICED = Object.keys(UNITS) as Priced[];
const CURRENCY = /^[A-Za-z]{1,8}$/;

const isPrice = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

export const isPrices = (value: unknown): value is Prices =>
  isPlainObject(value) &&
  typeof value['currency'] === 'string' &&
  CURRENCY.test(value['currency']) &&
  Object.entries(value).every(
    ([name, price]) => name === 'currency' || ((PRICED as string[]).includes(name) && isPrice(price)),
  );

/** In units of the currency, to a millionth. */
export type Cost = Readonly<Record<Priced, number>> & { readonly currency: string; readonly total: number };

const rounded = (amount: number): number => Math.round(amount * 1e6) / 1e6;

/** The cost of a call of this many milliseconds. The total is the sum of the rounded parts. */
export function costOf(usage: Usage, callMs: number, prices: Prices): Cost {
  const { inputTokens, outputTokens, characters, recognisedMs } = usage;
  const amounts = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    characters,
    recognition_minute: recognisedMs,
    call_minute: callMs,
  };
  const parts = Object.fromEntries(
    PRICED.map((name) => [name, rounded((amounts[name] / UNITS[name]) * (prices[name] ?? 0))]),
  ) as Record<Priced, number>;
  const total = rounded(PRICED.reduce((sum, name) => sum + parts[name], 0));
  return { currency: prices.currency, total, ...parts };
}
