/**
 * `PCM_RATE`: the default sample rate in Hz of protocol A's `pcm`, as one number for all of its bases or
 * by base: `24000`, or `/v1=24000,/compat/v1=16000`. For clients that assume a fixed rate.
 */
import { FORMATS } from '../../codecs/formats.js';
import { EVERY_BASE, type PcmRates } from '../dialects/protocol-a/bases.js';

const ITEM = /^(?:(\/[\w./-]+)=)?(\d{4,5})$/;

/** Undefined if it does not parse. */
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

/** A named base that does not exist, if any. */
export const strangeBase = (
  rates: PcmRates,
  bases: readonly { readonly path: string }[],
): string | undefined =>
  [...rates.keys()].find((base) => base !== EVERY_BASE && !bases.some(({ path }) => path === base));
