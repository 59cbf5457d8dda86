/** The table of incidents (ops/monitoring/incidents.mjs) has a row for each fault of the benches, and names what there is. */
import { readFileSync } from 'node:fs';
import t from '../../../fixtures/tap.js';
import { CHECKOUT } from '../../../../contracts/places.js';
import { SECTIONS } from '../../../../gateway/config/settings.js';
import { FAULTS } from '../../../chaos/conversation/faults.js';
import { NIGHT_FAULTS } from '../../../chaos/night/faults.js';
import { awaited, ofOne, patternOf, saysHealth } from '../../../chaos/night/signs.js';
import { FAULT_KINDS } from '../../../chaos/record.js';
import { exactly } from '../../../fixtures/exactly.js';
import { ALERTS, INCIDENTS } from '../../../fixtures/ops/monitoring.js';

const names = (rows: readonly { readonly name: string }[]): readonly string[] =>
  rows.map(({ name }) => name).sort();
const page = (name: string): string => readFileSync(new URL(`docs/${name}`, CHECKOUT), 'utf8');

t.test('each fault of the benches is in one row, and no row names another', (t) => {
  t.strictSame(INCIDENTS.flatMap(({ faults }) => faults).sort(), names(NIGHT_FAULTS));
  t.strictSame(INCIDENTS.flatMap(({ nodes }) => nodes).sort(), [...FAULT_KINDS].sort());
  const night = new Set(names(NIGHT_FAULTS));
  t.strictSame(
    names(FAULTS).filter((name) => !night.has(name)),
    [],
    'the night makes those of conversations, too',
  );
  t.end();
});

t.test('alerts, metrics and settings of the rows are there', (t) => {
  const alerts = new Set(names(ALERTS));
  const metrics = new Set([...page('metrics.md').matchAll(/^\| `(gateway_\w+)`/gm)].map(([, name]) => name));
  const settings = new Set(SECTIONS.flatMap(({ settings }) => settings.map(({ env }) => env)));
  for (const { log, alert, metric, settings: named } of INCIDENTS) {
    t.ok(alert === '' || alerts.has(alert), `${alert} of "${log}"`);
    for (const [name] of metric.matchAll(/\bgateway_\w+/g)) t.ok(metrics.has(name), name);
    for (const name of named) t.ok(settings.has(name) || name.startsWith('AWS_'), name);
  }
  t.end();
});

t.test('a row without a sign is one that nobody is hurt by, or in which nobody can write', (t) => {
  for (const { symptom, log, metric, alert, health } of INCIDENTS) {
    if (log === '') t.equal(health, 'no answer', symptom);
    t.equal(metric === '', alert === '', `${symptom}: what is counted is alerted, and the reverse`);
  }
  t.end();
});

t.test('a row may be about one of several parts', (t) => {
  const model = INCIDENTS.find(({ health }) => health === 'parts.model')!;
  exactly(t, ofOne(model, 'fallback'), {
    log: /^The language model \(fallback\) at …/,
    back: 'The language model (fallback) at … is back after … s',
    metric: 'gateway_part_failing{part="model", name="fallback"} == 1',
    alert: 'GatewayModelFails{name="fallback"}',
    health: 'parts.model.fallback',
  });
  t.end();
});

t.test('what the row of all parts leaves out, that of one of them does as well', (t) => {
  const odd = INCIDENTS.find(({ faults }) => faults.includes('second model outgrows its window'))!;
  exactly(t, ofOne(odd, 'fallback'), { metric: /^$/, alert: /^$/, health: /^$/, back: /^$/ });
  t.end();
});

t.test('a sign that did not come is told in the words of the table', (t) => {
  const model = INCIDENTS.find(({ health }) => health === 'parts.model')!;
  const promised = ['log', 'metric', 'alert', 'health'] as const;
  const ending = ['log', 'metric', 'health'] as const;
  const seen = { promised, ending, early: [], told: { log: 1, metric: 2, health: 1 }, over: { metric: 1 } };
  t.strictSame(awaited(model, seen), ['awaited (alert): GatewayModelFails', `awaited (log): ${model.back}`]);
  t.strictSame(awaited(model, { ...seen, told: { ...seen.told, alert: 3 }, over: { log: 1 } }), []);
  t.end();
});

t.test('lines and health are read as the table writes them', (t) => {
  t.match('The bucket (a) at http://x failed (500): check A', patternOf('The bucket (…) at … failed (…)'));
  t.notMatch('The bucket (a) at http://x failed (500)', patternOf('bucket (…)'));
  t.ok(saysHealth('no answer', undefined));
  t.notOk(saysHealth('no answer', {}));
  t.ok(saysHealth('status: draining', { status: 'draining' }));
  t.ok(saysHealth('checks.storage', { checks: { storage: false } }));
  t.notOk(saysHealth('checks.storage', { checks: { storage: true } }));
  const parts = [
    { part: 'model', name: 'main', status: 'ok' },
    { part: 'model', name: 'fallback', status: 'failing' },
    { part: 'voice', name: 'a', status: 'unknown' },
  ];
  t.ok(saysHealth('parts.model', { parts }));
  t.notOk(saysHealth('parts.voice', { parts }));
  t.ok(saysHealth('parts.model.fallback', { parts }));
  t.notOk(saysHealth('parts.model.main', { parts }));
  t.end();
});
