/**
 * The alerts in Prometheus' own hands: its linters find nothing in rules and metrics, and each alert of a part begins after its time, and
 * ends with the failure. Needs promtool, which Debian's package prometheus has.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { CHECKOUT } from '../../contracts/places.js';
import { externalTool } from '../fixtures/external.js';
import { temporaryFolder } from '../fixtures/folders.js';
import { sharedGateway } from '../fixtures/gateway.js';
import { shortOrLong } from '../fixtures/long.js';

interface Alert {
  readonly name: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: string;
  readonly summary: string;
}

const monitoring = (file: string): string => fileURLToPath(new URL(`ops/monitoring/${file}`, CHECKOUT));
const { ALERTS } = (await import(monitoring('alerts.mjs'))) as { readonly ALERTS: readonly Alert[] };
const PROMTOOL = 'promtool';
const skip = externalTool(PROMTOOL) === undefined && `not on PATH: ${PROMTOOL}`;
const minutes = (text: string): number => Number.parseInt(text, 10);

/** A failure from the fifth minute on: how the metric looks, and how long after it the expression is true at the latest. */
interface Failure {
  readonly series: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly values: string;
  readonly window: number;
  /** Minute from which on the expression is false again. */
  readonly over: number;
}

const I = 'i:8080';

/** What an alert on a part of the operator's is about; undefined for others. */
function failureOf({ name, expr }: Alert): Failure | undefined {
  const [, part] = /gateway_part_failing\{part="(\w+)"\}/.exec(expr) ?? [];
  if (part !== undefined)
    return {
      series: `gateway_part_failing{instance="${I}", part="${part}", name="main"}`,
      labels: { instance: I, name: 'main' },
      ...{ values: '0x4 1x24 0x20', window: 0, over: 30 },
    };
  const [, parts] = /gateway_part_requests_total\{part=~"([\w|]+)"/.exec(expr) ?? [];
  if (parts !== undefined)
    return {
      series: `gateway_part_requests_total{instance="${I}", part="${parts.split('|')[0]}", name="account", outcome="timeout"}`,
      labels: { instance: I, name: 'account' },
      ...{ values: '0x4 0+30x24 720x20', window: 2, over: 36 },
    };
  if (name !== 'GatewayOutOfMemory') return undefined;
  const labels = { instance: I, role: 'stt', index: '0', cause: 'memory' };
  const selector = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return {
    series: `gateway_child_restarts_total{${selector.join(', ')}}`,
    labels,
    ...{ values: '0x4 1x60', window: 1, over: 22 },
  };
}

const filled = (text: string, labels: Failure['labels']): string =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '');

/** One test of promtool: silent before its time, then firing, and silent once it is over. */
function trial(alert: Alert, { series, labels, values, window, over }: Failure) {
  const { name: alertname, severity, summary } = alert;
  const lasting = minutes(alert.for);
  const firing = {
    exp_labels: { ...labels, severity },
    exp_annotations: { summary: `${filled(summary, labels)} (${I})` },
  };
  const at = (minute: number, exp_alerts: readonly object[]) => ({
    eval_time: `${minute}m`,
    alertname,
    exp_alerts,
  });
  return {
    interval: '1m',
    input_series: [{ series, values }],
    alert_rule_test: [
      at(4, []),
      ...(lasting > 0 ? [at(5 + lasting - 1, [])] : []),
      at(5 + window + lasting, [firing]),
      at(over, []),
    ],
  };
}

t.test('promtool finds nothing in the rules', { skip }, (t) => {
  const { status, stdout, stderr } = spawnSync(
    PROMTOOL,
    ['check', 'rules', '--lint=all', '--lint-fatal', monitoring('alerts.yaml')],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, stderr);
  t.match(stdout, new RegExp(`SUCCESS: ${ALERTS.length} rules found`));
  t.end();
});

t.test('promtool finds nothing in what /metrics answers', { skip }, async (t) => {
  const { base } = await sharedGateway(t);
  const input = await (await fetch(`${base}/metrics`)).text();
  t.match(input, /gateway_part_failing\{part="database"/);
  const { status, stderr } = spawnSync(PROMTOOL, ['check', 'metrics'], { encoding: 'utf8', input });
  t.equal(stderr, '');
  t.equal(status, 0);
});

t.test('each part has an alert, which begins in its time and ends with the failure', { skip }, (t) => {
  const tried = ALERTS.flatMap((alert) => {
    const failure = failureOf(alert);
    return failure ? [{ alert, failure }] : [];
  });
  t.strictSame(tried.map(({ alert: { name } }) => name).sort(), [
    ...['GatewayAnalysisFails', 'GatewayBucketFails', 'GatewayChildFails', 'GatewayDatabaseFails'],
    ...['GatewayLivekitFails', 'GatewayModelFails', 'GatewayOutOfMemory', 'GatewayPhoneFail'],
    ...['GatewayRecogniserFails', 'GatewayToolsFail', 'GatewayVoiceFails', 'GatewayWebhooksFail'],
  ]);
  const few = tried.filter(({ alert }) => /Model|OutOfMemory|Tools/.test(alert.name));
  const file = join(temporaryFolder(), 'alerts.test.json');
  const tests = shortOrLong(few, tried).map(({ alert, failure }) => trial(alert, failure));
  const rules = { rule_files: [monitoring('alerts.yaml')], evaluation_interval: '1m', tests };
  writeFileSync(file, JSON.stringify(rules));
  const said = execFileSync(PROMTOOL, ['test', 'rules', file], { encoding: 'utf8' });
  t.match(said, /SUCCESS/);
  t.end();
});
