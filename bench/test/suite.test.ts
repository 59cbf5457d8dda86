/** The scenarios of a run. */
import t from 'tap';
import { SCENARIOS } from '../src/scenarios/index.js';
import { readOptions, UsageError } from '../src/options.js';
import type { Scenario } from '../src/scenarios/scenario.js';
import { chooseScenarios, runSuite } from '../src/suite.js';

t.test('a scenario that takes long runs only if it is named', async (t) => {
  const names = (...wanted: string[]) => chooseScenarios(SCENARIOS, wanted).map(({ name }) => name);
  t.notOk(names().includes('voices'));
  t.strictSame(names('voices'), ['voices']);
  t.ok(names().includes('engines'), 'the others run without');
  t.strictSame(names('rivals', 'transcript'), ['rivals'], 'a kind of what is named');
  t.strictSame(names('transcript'), ['transcription'], 'else a part of a name');
  t.equal(names().length, SCENARIOS.filter(({ onlyByName = false }) => !onlyByName).length);
});

t.test('an interrupted run stops what it has started, and reports what it has measured', async (t) => {
  const stopped: string[] = [];
  const interruption = new AbortController();
  const scenarioOf = (name: string, run: Scenario['run']): Scenario => ({
    name,
    title: name,
    isLocal: false,
    parameters: { full: {}, quick: {} },
    run,
  });
  const server = (name: string) => ({ stop: async () => stopped.push(name) });
  let startLate = (): unknown => undefined;
  const chosen = [
    scenarioOf('measured', async (context) =>
      context.add({ name: 'measured.figure', unit: 'ms', value: 1, n: 1, subject: 'gateway' }),
    ),
    scenarioOf('interrupted', async (context) => {
      context.own(server('started'));
      startLate = () => context.own(server('late'));
      interruption.abort();
      await new Promise(() => undefined);
    }),
    scenarioOf('never', async () => void stopped.push('never')),
  ];
  const options = readOptions(['--url', 'http://127.0.0.1:1', '--key', 'k']);
  const report = await runSuite(chosen, options, () => undefined, interruption.signal);
  t.hasStrict(report.scenarios, [{ name: 'measured' }, { name: 'interrupted', error: 'interrupted' }]);
  t.equal(report.scenarios.length, 2);
  t.hasStrict(report.figures, [{ name: 'measured.figure', value: 1 }]);
  t.equal(report.figures.length, 1);
  t.throws(startLate, /interrupted/);
  t.strictSame(stopped, ['started', 'late']);
});

t.test('rounds are counted, and are part of what a run may be compared with', async (t) => {
  t.equal(readOptions(['rivals', '--rounds', '2']).rounds, 2);
  t.equal(readOptions(['rivals']).rounds, undefined);
  t.throws(() => readOptions(['--rounds', '1.5']), new UsageError('--rounds wants a whole number, not 1.5'));
  const { run } = await runSuite([], readOptions(['--rounds', '2']), () => undefined);
  t.equal(run['rounds'], 2);
});
