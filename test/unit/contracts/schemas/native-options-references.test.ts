/** Reference audio among the options of the native API. */
import t from '../../../fixtures/tap.js';
import { type NativeOptions, toNativeSynthesis } from '../../../../contracts/schemas/native-options.js';
import { exactly, throwsExactly } from '../../../fixtures/exactly.js';

t.test('reference audio is bytes with their text, in a list or a list of lists', async (t) => {
  const voiceOf = (options: NativeOptions) =>
    toNativeSynthesis(options, { latency: 'low', voice: () => 'v' });
  const reference = { audio: Uint8Array.of(1), text: 'a' };
  exactly(t, voiceOf({ references: [[reference], reference] }), {
    references: [reference, reference],
    voice: '',
  });
  exactly(t, voiceOf({}), { references: [], voice: 'v' });
  exactly(t, voiceOf({ reference_id: ['a', 'b'] }), { voice: '', speakers: ['a', 'b'] });
  const refused = {
    code: 'invalid_request',
    param: 'references',
    message: /please check your reference audio$/,
  };
  for (const bad of [null, {}, reference, [null], [{ text: 'a' }], [{ ...reference, text: 1 }], [{ ...reference, audio: new Uint8Array(0) }], [[[reference]]]])
    throwsExactly(t, () => voiceOf({ references: bad }), refused, JSON.stringify(bad)); // oxfmt-ignore
});
