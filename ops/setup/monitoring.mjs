/**
 * The files that monitoring takes as they are: Prometheus' alerts with their tests, and Grafana's dashboard, made from the
 * tables in ops/monitoring. Every metric that they name must be one that `/metrics` has.
 */
import fs from 'node:fs';
import { CASES } from '../monitoring/alert-cases.mjs';
import { ALERTS } from '../monitoring/alerts.mjs';
import { ROWS } from '../monitoring/panels.mjs';
import { SetupError } from './failure.mjs';
import { inRoot } from './paths.mjs';

export const ALERTS_FILE = 'ops/monitoring/alerts.yaml';
export const ALERT_TESTS_FILE = 'ops/monitoring/alerts.test.yaml';
export const DASHBOARD_FILE = 'ops/monitoring/dashboard.json';

const COLUMNS = 24;
const PANEL = { width: 6, height: 8 };

/** The metrics listed in docs/metrics.md, which a test compares with `/metrics`; histograms by their parts. */
function knownMetrics() {
  const page = fs.readFileSync(inRoot('docs/metrics.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(gateway_\w+)` \| (\w+) \|/gm)];
  return new Set(
    rows.flatMap(([, name, kind]) =>
      kind === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name],
    ),
  );
}

/** Throws where an expression names a metric of ours that there is not. */
function checked(expr, known = knownMetrics()) {
  const unknown = [...expr.matchAll(/\bgateway_\w+/g)].find(([name]) => !known.has(name));
  if (unknown)
    throw new SetupError(`ops/monitoring names ${unknown[0]}, which docs/metrics.md does not list`);
  return expr;
}

const INSTANCE = 'gateway.example:8080';
/** Another gateway, which is well all the time. */
const WELL = 'well.example:8080';
/** Names the machine; what all gateways share is of none. */
const summaryOf = ({ summary, ofAll = false }) => (ofAll ? summary : `${summary} ({{ $labels.instance }})`);

const rule = ({ name, expr, for: lasting, severity, ...more }) =>
  [
    `      - alert: ${name}`,
    `        expr: ${JSON.stringify(checked(expr))}`,
    `        for: ${lasting}`,
    `        labels: { severity: ${severity} }`,
    `        annotations: { summary: ${JSON.stringify(summaryOf(more))} }`,
  ].join('\n');

export const generateAlerts = () =>
  [
    '# Made by npm run generate from ops/monitoring/alerts.mjs.',
    'groups:',
    '  - name: speech-gateway',
    '    rules:',
    ...ALERTS.map(rule),
    '',
  ].join('\n');

/** `name{labels}` with the label `instance`. */
const onInstance = (series, instance) => {
  const [, name, labels] = /^(\w+)(?:\{(.*)\})?$/.exec(series);
  return `${name}{${labels ? `${labels}, ` : ''}instance="${instance}"}`;
};

/** Label values in the place of `{{ $labels.name }}`. */
const rendered = (text, labels) =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => labels[name] ?? '');

/** The first value, for longer than any case takes. */
const unchanged = (values) => `${/^[\d.]+/.exec(values)[0]}x200`;

function alertTest({ alert, series, silent, fires, labels = {} }) {
  const found = ALERTS.find(({ name }) => name === alert);
  if (!found) throw new SetupError(`ops/monitoring/alert-cases.mjs names ${alert}, which is no alert`);
  const own = { ...(!found.ofAll && { instance: INSTANCE }), ...labels };
  const firing = {
    exp_labels: { ...own, severity: found.severity },
    exp_annotations: { summary: rendered(summaryOf(found), own) },
  };
  const at = (minutes, exp_alerts) => ({ eval_time: `${minutes}m`, alertname: alert, exp_alerts });
  return {
    name: alert,
    interval: '1m',
    input_series: Object.entries(series).flatMap(([name, values]) => [
      { series: onInstance(checked(name), INSTANCE), values },
      { series: onInstance(name, WELL), values: unchanged(values) },
    ]),
    alert_rule_test: [
      ...silent.map((minutes) => at(minutes, [])),
      ...fires.map((minutes) => at(minutes, [firing])),
    ],
  };
}

/** Tests of the alerts, for `promtool test rules`. A line of JSON, which is YAML, for each. */
export const generateAlertTests = () =>
  [
    '# Made by npm run generate from ops/monitoring/alert-cases.mjs. Run: promtool test rules ops/monitoring/alerts.test.yaml',
    'rule_files: [alerts.yaml]',
    'evaluation_interval: 1m',
    'tests:',
    ...CASES.map((row) => `  - ${JSON.stringify(alertTest(row))}`),
    '',
  ].join('\n');

const datasource = { type: 'prometheus', uid: '${datasource}' };

const target = ({ expr, legend }, index) => ({
  datasource,
  expr: checked(expr),
  legendFormat: legend,
  refId: String.fromCharCode('A'.charCodeAt(0) + index),
});

const panelAt =
  (y) =>
  ({ title, unit, queries }, index) => ({
    type: 'timeseries',
    title,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    gridPos: { x: (index * PANEL.width) % COLUMNS, y, w: PANEL.width, h: PANEL.height },
    targets: queries.map(target),
  });

const rowsOf = ({ title, panels }, index) => {
  const y = index * (PANEL.height + 1);
  return [
    { type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: COLUMNS, h: 1 }, panels: [] },
    ...panels.map(panelAt(y + 1)),
  ];
};

const variable = (name, more) => ({ name, label: name, hide: 0, ...more });

export const generateDashboard = () =>
  `${JSON.stringify(
    {
      uid: 'speech-gateway',
      title: 'Speech gateway',
      tags: ['speech-gateway'],
      timezone: 'browser',
      schemaVersion: 39,
      refresh: '30s',
      time: { from: 'now-1h', to: 'now' },
      templating: {
        list: [
          variable('datasource', { type: 'datasource', query: 'prometheus' }),
          variable('instance', {
            type: 'query',
            datasource,
            query: { query: 'label_values(gateway_processes, instance)', refId: 'instance' },
            refresh: 2,
            multi: true,
            includeAll: true,
          }),
        ],
      },
      panels: ROWS.flatMap(rowsOf).map((panel, index) => ({ id: index + 1, ...panel })),
    },
    undefined,
    2,
  )}\n`;
