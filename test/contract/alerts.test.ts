/** The alerts for Prometheus, as its own tool judges them: ops/monitoring/alerts.yaml and its tests. */
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { CHECKOUT } from '../../contracts/places.js';
import { PROMTOOL, promtool } from '../chaos/night/promtool.js';
import { skipReason } from '../fixtures/external.js';
import { ALERTS, CASES } from '../fixtures/monitoring.js';

const skip = skipReason(PROMTOOL);
const file = (name: string): string => fileURLToPath(new URL(`ops/monitoring/${name}`, CHECKOUT));

t.test('each alert has a test in which it is silent and in which it fires', (t) => {
  t.strictSame(CASES.map(({ alert }) => alert).sort(), ALERTS.map(({ name }) => name).sort());
  for (const { alert, silent, fires } of CASES) t.ok(silent.length > 0 && fires.length > 0, alert);
  t.end();
});

t.test('the rules are without a fault', { skip }, async (t) => {
  const { code, said } = await promtool('check', 'rules', '--lint=all', '--lint-fatal', file('alerts.yaml'));
  t.equal(code, 0, said);
});

t.test('alerts fire after their time, name what fails, and end', { skip }, async (t) => {
  const { code, said } = await promtool('test', 'rules', file('alerts.test.yaml'));
  t.equal(code, 0, said);
});
