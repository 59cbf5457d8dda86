/** The setting for prices of calls. */
import { type Prices, pricesProblem } from '../../contracts/sessions/prices.js';
import { ConfigError, parsed } from './setting.js';

const WANTED = 'a JSON object of a currency and prices';

function inJson(raw: string): unknown {
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    throw new ConfigError(`PRICES must be ${WANTED}: this is no JSON`);
  }
}

/** Errors: `ConfigError` that names what is wrong. */
function pricesIn(raw: string): Prices {
  const value = inJson(raw);
  const problem = pricesProblem(value);
  if (problem !== undefined) throw new ConfigError(`PRICES: ${problem}`);
  return value as Prices;
}

export const PRICES = {
  prices: parsed<Prices | undefined>(
    'PRICES',
    undefined,
    { parse: pricesIn, wanted: WANTED, kind: 'JSON' },
    'Prices, for the cost of each call: {"currency": "EUR", "input_tokens": 0.4, "output_tokens": 1.6} (a million), ' +
      '"characters" (a thousand), "speech_minute", "recognition_minute", "call_minute"; tokens also by the language model: ' +
      '"models": {"NAME": {"input_tokens": 2}}; speech and recognition by engine, and by its model: ' +
      '"engines": {"NAME": {"characters": 0.03, "models": {"NAME": {"recognition_minute": 0.006}}}}.',
  ),
};
