/** Which scenarios a run has. */
import t from 'tap';
import { SCENARIOS } from '../src/scenarios/index.js';
import { chooseScenarios } from '../src/suite.js';

t.test('a scenario that takes long runs only where it is named', async (t) => {
  const names = (...wanted: string[]) => chooseScenarios(SCENARIOS, wanted).map(({ name }) => name);
  t.notOk(names().includes('voices'));
  t.strictSame(names('voices'), ['voices']);
  t.ok(names().includes('engines'), 'the others run without');
  t.equal(names().length, SCENARIOS.filter(({ onlyByName = false }) => !onlyByName).length);
});
