/** The setting for prices of calls. */
import { isPrices, type Prices } from '../../contracts/sessions/prices.js';
import { json } from './setting.js';

export const PRICES = {
  prices: json<Prices | undefined>(
    'PRICES',
    undefined,
    'a JSON object of a currency and prices: input_tokens, output_tokens, characters, recognition_minute, call_minute; models: input_tokens and output_tokens of each',
    (value): value is Prices => isPrices(value),
    'Prices, for the cost of each call: {"currency": "EUR", "input_tokens": 0.4, "output_tokens": 1.6} (a million), ' +
      '"characters" (a thousand), "recognition_minute", "call_minute"; tokens also by the language model: ' +
      '"models": {"NAME": {"input_tokens": 2}}.',
  ),
};
