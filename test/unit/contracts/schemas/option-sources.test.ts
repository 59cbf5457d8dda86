/** Options of a body. */
import t from '../../../fixtures/tap.js';
import { optionsFromObject } from '../../../../contracts/schemas/option-sources.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

t.test('options of a body are an object, and a fault names its place', async (t) => {
  const read = (value: unknown, path = 'provider.options.svc') => optionsFromObject(value, path);
  for (const none of [undefined, null, {}, { unknown: 1, opus_bitrate: 5, latency: null }])
    t.strictSame(read(none), {});
  t.strictSame(read({ normalize: 'off', prosody: { speed: 2, normalize_loudness: 'False' } }), {
    normalize: false,
    prosody: { speed: 2, normalize_loudness: false },
  });
  const refused = (param: string) => ({ code: 'invalid_request', param });
  for (const bad of ['low', 1, true, [1]]) throwsExactly(t, () => read(bad), refused('provider.options.svc'));
  throwsExactly(t, () => read('low'), { message: 'provider.options.svc must be of type object' });
  throwsExactly(t, () => read({ prosody: { speed: 9 } }), refused('provider.options.svc.prosody.speed'));
  throwsExactly(t, () => read({ prosody: 1 }, ''), refused('prosody'));
  throwsExactly(t, () => read({ normalize: 'perhaps' }), refused('provider.options.svc.normalize'));
});
