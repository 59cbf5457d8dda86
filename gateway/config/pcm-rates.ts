/**
 * `PCM_RATE`: how many Hz protocol A's `pcm` has where a request says nothing, as one number for all of its bases or
 * by base: `24000`, or `/v1=24000,/compat/v1=16000`. Clients that play it at a rate of their own need it so.
 */
import { FORMATS } from '../../codecs/formats.js';
import { EVERY_BASE, type PcmRates } from '../dialects/protocol-a/bases.js';

const ITEM = /^(?:(\/[\w./-]+)=)?(\d{4,5})$/;

/** Undefined where it does not parse. */
function parse(raw: string): PcmRates | undefined {
  const rates = new Map<string, number>();
  for (const item of raw.split(',').map((text) => text.trim())) {
    const [, base = EVERY_BASE, rate] = ITEM.exec(item) ?? [];
    if (!FORMATS.pcm.rates.includes(Number(rate)) || rates.has(base)) return undefined;
    rates.set(base, Number(rate));
  }
  return rates;
}

export const PCM_RATES = {
  parse,
  kind: 'Hz, or base=Hz, comma-separated',
  wanted: `a rate of ${FORMATS.pcm.rates.join(', ')}, or a list of base=rate such as /v1=24000`,
};

/** A base that is named and is none of those. */
export const strangeBase = (
  rates: PcmRates,
  bases: readonly { readonly path: string }[],
): string | undefined =>
  [...rates.keys()].find((base) => base !== EVERY_BASE && !bases.some(({ path }) => path === base));
