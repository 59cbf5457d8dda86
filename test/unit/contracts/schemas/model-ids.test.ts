/** Models that requests name. */
import t from '../../../fixtures/tap.js';
import { namedSynthesisModel, namedTranscriptionModel } from '../../../../contracts/schemas/model-ids.js';
import { defaultVocabulary } from '../../../../contracts/vocabulary.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

t.test('a model of the other kind is told apart from one that nobody knows', async (t) => {
  const refused = (message: string) => ({ code: 'model_not_found', param: 'model', message });
  const speaking = (id: string) => namedSynthesisModel(id, defaultVocabulary, 'model');
  const hearing = (id: string) => namedTranscriptionModel(id, defaultVocabulary, 'model');
  t.equal(speaking('svc/s1'), 's1');
  t.equal(hearing('whisper-1'), 'transcribe-1');
  throwsExactly(t, () => speaking('whisper-1'), refused('This model transcribes; it cannot speak'));
  throwsExactly(t, () => hearing('s1'), refused('This model speaks; it cannot transcribe'));
  for (const model of [speaking, hearing]) throwsExactly(t, () => model('nobody'), refused('Unknown model'));
});
