/** `PCM_RATE`: values that are accepted, and values that stop the start with a message that names them. */
import t from '../../../fixtures/tap.js';
import { readConfig } from '../../../../gateway/config.js';
import { basesOf } from '../../../../gateway/dialects/protocol-a/bases.js';

const rates = (value: string | undefined): Record<string, number> => {
  const { vocabulary, pcmRates } = readConfig({ PCM_RATE: value });
  return Object.fromEntries(basesOf(vocabulary, pcmRates).map(({ path, pcmRate }) => [path, pcmRate]));
};
const every = (rate: number, own: Record<string, number> = {}) => ({
  '/compat/v1': rate,
  '/compat/api/v1': rate,
  '/compat/openai/v1': rate,
  '/v1': rate,
  ...own,
});

t.test('a rate for all bases, by base, or both', async (t) => {
  t.strictSame(rates(undefined), every(44_100));
  t.strictSame(rates('24000'), every(24_000));
  t.strictSame(rates('/v1=24000, /compat/v1=16000'), every(44_100, { '/v1': 24_000, '/compat/v1': 16_000 }));
  t.strictSame(rates('8000,/v1=32000'), every(8000, { '/v1': 32_000 }));
});

t.test('a value that is no rate, or for no base, is refused', async (t) => {
  for (const value of ['22050', '24k', '/v1', '/v1=', '/v1=48000', '24000,16000', '/v1=8000,/v1=8000', ','])
    t.throws(() => readConfig({ PCM_RATE: value }), /PCM_RATE must be a rate of 8000, 16000/, value);
  t.throws(() => readConfig({ PCM_RATE: '/v2=24000' }), /PCM_RATE names \/v2, which is none of \/compat\/v1/);
});
