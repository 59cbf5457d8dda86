/** Options that are for synthesis only. */
import t from '../../../fixtures/tap.js';
import { refuseOptionHeaders, refuseProviderOptions } from '../../../../contracts/schemas/refusals.js';
import { defaultVocabulary } from '../../../../contracts/vocabulary.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

t.test('rule 6: options for synthesis are refused elsewhere, unless they are unset', async (t) => {
  const refused = (param: string) => ({ code: 'unsupported_option', param, message: `${param} is for synthesis only` });
  const options = (value: unknown) => refuseProviderOptions(value, defaultVocabulary);
  throwsExactly(t, () => options({ svc: { latency: 'low' } }), refused('provider.options.svc'));
  for (const unset of [undefined, null, {}, { svc: {} }, { svc: null }, { other: { a: 1 } }]) options(unset);
  const headers = (name: string) => refuseOptionHeaders(new Map([[name, '1']]), defaultVocabulary);
  throwsExactly(t, () => headers('x-svc-latency'), { ...refused('X-Svc-*'), message: 'X-Svc-* headers are for synthesis only' });
  headers('x-other');
}); // oxfmt-ignore
