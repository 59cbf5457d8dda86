/**
 * The alerts in Prometheus' own hands: its linters find nothing in rules and metrics, and each alert begins after its time and ends with
 * what it is about (ops/monitoring/alerts.test.yaml). Needs promtool, which Debian's package prometheus has.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { PROMTOOL, promtool } from '../../chaos/night/promtool.js';
import { skipReason } from '../../fixtures/external.js';
import { folderOf } from '../../fixtures/folders.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';
import { ALERTS, CASES } from '../../fixtures/ops/monitoring.js';

const skip = skipReason(PROMTOOL);
const file = (name: string): string => fileURLToPath(new URL(`ops/monitoring/${name}`, CHECKOUT));

t.test('each alert has a test in which it is silent and in which it fires', (t) => {
  t.strictSame(CASES.map(({ alert }) => alert).sort(), ALERTS.map(({ name }) => name).sort());
  for (const { alert, silent, fires } of CASES) t.ok(silent.length > 0 && fires.length > 0, alert);
  t.end();
});

/** A label of what an expression keeps: `by (…)` of each aggregation, or all labels where there is none. */
const keepsInstance = (expr: string): boolean =>
  [...expr.matchAll(/\b(?:sum|max|min|avg|count)\b(?! by \((?:\w+, )*instance\b)/g)].length === 0;

t.test('where several gateways are scraped an alert names the machine, or what all of them share', (t) => {
  t.same(
    ALERTS.filter(({ expr }) => !keepsInstance(expr)).map(({ name }) => name),
    ALERTS.filter(({ ofAll }) => ofAll).map(({ name }) => name),
  );
  const yaml = readFileSync(file('alerts.yaml'), 'utf8');
  for (const { name, ofAll = false } of ALERTS) {
    const [, summary = ''] = new RegExp(`- alert: ${name}\\n[^]*?summary: "(.*)"`).exec(yaml) ?? [];
    t.equal(summary.endsWith('({{ $labels.instance }})'), !ofAll, name);
  }
  t.end();
});

t.test('promtool finds nothing in the rules', { skip }, async (t) => {
  const { code, said } = await promtool('check', 'rules', '--lint=all', '--lint-fatal', file('alerts.yaml'));
  t.equal(code, 0, said);
  t.match(said, new RegExp(`SUCCESS: ${ALERTS.length} rules found`));
});

t.test('promtool finds nothing in what /metrics answers', { skip }, async (t) => {
  const { base } = await sharedGateway(t);
  const input = await (await fetch(`${base}/metrics`)).text();
  t.match(input, /gateway_part_failing\{part="database"/);
  const { status, stderr } = spawnSync(PROMTOOL, ['check', 'metrics'], { encoding: 'utf8', input });
  t.equal(stderr, '');
  t.equal(status, 0);
});

/** Cases of the short form: promtool tries all rules at each minute of each case, which takes it seconds. */
const FEW = /^ {2}- \{"name":"Gateway(?:ModelFails|ToolsFail|ChildDied)"/;

/** The tests with only these cases, in a file of their own. */
function someOf(cases: RegExp, folder: string): string {
  const lines = readFileSync(file('alerts.test.yaml'), 'utf8')
    .replace('[alerts.yaml]', JSON.stringify([file('alerts.yaml')]))
    .split('\n');
  const written = join(folder, 'some.test.yaml');
  writeFileSync(written, lines.filter((line) => !line.startsWith('  - ') || cases.test(line)).join('\n'));
  return written;
}

t.test('alerts fire after their time, name what fails, and end', { skip }, async (t) => {
  const { code, said } = await promtool(
    'test',
    'rules',
    shortOrLong(someOf(FEW, folderOf(t)), file('alerts.test.yaml')),
  );
  t.equal(code, 0, said);
});
