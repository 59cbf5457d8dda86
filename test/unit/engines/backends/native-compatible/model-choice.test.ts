/** Which model a service with our own API is asked for: the one that the client named, as far as the operator lists it. */
import t from '../../../../fixtures/tap.js';
import { modelChoice } from '../../../../../engines/backends/native-compatible/model-choice.js';

t.test('the client’s model if it is listed, else the configured one, which is said once', async (t) => {
  const told: string[] = [];
  const choose = modelChoice({ ttsModel: 'own', ttsModels: ['s1', 's2.1-pro'] }, (model) => told.push(model));
  t.equal(choose('s1'), 's1');
  t.strictSame([choose('s2-pro'), choose('s2-pro')], ['own', 'own']);
  t.strictSame([choose(undefined), choose('s2.1-pro')], ['own', 'own'], 'the default is the configured one');
  t.strictSame(told, ['s2-pro']);
  t.equal(choose('s2.1-pro-free'), 'own');
  t.strictSame(told, ['s2-pro', 's2.1-pro-free']);
});

t.test('without a list there is one model', async (t) => {
  t.equal(modelChoice({ ttsModel: 'own' }, () => undefined)('s1'), 'own');
});
