/** The table of incidents (ops/monitoring/incidents.mjs) has a row for each fault of the benches, and names what there is. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { CHECKOUT } from '../../contracts/places.js';
import { SECTIONS } from '../../gateway/config/settings.js';
import { FAULTS } from '../chaos/conversation/faults.js';
import { NIGHT_FAULTS } from '../chaos/night/faults.js';
import { ofOne, patternOf, saysHealth } from '../chaos/night/signs.js';
import { FAULT_KINDS } from '../chaos/record.js';
import { ALERTS, INCIDENTS } from '../fixtures/monitoring.js';

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
  t.match(ofOne(model, 'fallback'), {
    log: /^The language model \(fallback\) at …/,
    back: 'The language model (fallback) at … is back after … s',
    metric: 'gateway_part_failing{part="model", name="fallback"} == 1',
    health: 'parts.model.fallback',
  });
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
