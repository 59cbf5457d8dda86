/** How `npm run chaos -- night` reads figures and log lines, and judges them (test/chaos/night). */
import t from '../../../../fixtures/tap.js';
import { inputSeries, scraped, UP } from '../../../../chaos/night/figures.js';
import { beganAfter, broken, endedAfter, figuresOf, type Judged } from '../../../../chaos/night/judge.js';
import { LogReader } from '../../../../chaos/night/log-reader.js';
import { objections } from '../../../../chaos/night/promtool.js';
import { exactly } from '../../../../fixtures/exactly.js';

const TARGET = 'instance="gateway",job="speech-gateway"';

t.test('figures become the series that Prometheus would have', (t) => {
  const text =
    '# HELP gateway_a a\ngateway_a 1\ngateway_b{part="model",le="+Inf"} 2.5\nprocess_x 3\ngateway_c Nan\n';
  t.same(
    [...scraped(text)],
    [
      [UP, 1],
      [`gateway_a{${TARGET}}`, 1],
      [`gateway_b{part="model",le="+Inf",${TARGET}}`, 2.5],
    ],
  );
  t.same([...scraped(undefined)], [[UP, 0]], 'no answer');
  t.end();
});

t.test(
  'a series that a scrape no longer has is stale, and a scrape that was not made changes nothing',
  (t) => {
    const series = inputSeries([
      scraped('gateway_a 1'),
      undefined,
      scraped('gateway_a 2'),
      scraped(undefined),
      scraped(undefined),
      scraped('gateway_a 3\ngateway_b 4'),
    ]);
    t.same(series, [
      { series: UP, values: '1 _ 1 0 0 1' },
      { series: `gateway_a{${TARGET}}`, values: '1 _ 2 stale _ 3' },
      { series: `gateway_b{${TARGET}}`, values: '_ _ _ _ _ 4' },
    ]);
    t.end();
  },
);

t.test('promtool’s objections are the seconds at which something was true', (t) => {
  const said = [
    '  FAILED:',
    '    alertname: GatewayDown, time: 59s, ',
    '        exp:[], ',
    '    alertname: GatewayDown, time: 1m, ',
    '    alertname: GatewayDown, time: 1h2m3s, ',
    '    alertname: GatewayModelFails, time: 4s, ',
    '        exp:[], ',
    '        got:[',
    '            0:',
    '              Labels:{alertname="GatewayModelFails", instance="gateway", name="fallback", severity="page"}',
    '              Annotations:{summary="a"},',
    '            1:',
    '              Labels:{alertname="GatewayModelFails", instance="gateway", name="main", severity="page"}',
    '              Annotations:{summary="b"}',
    '            ]',
    '    expr: "up{job=\\"a\\"} == 0", time: 0s,',
  ].join('\n');
  t.same(
    [...objections(said)],
    [
      ['GatewayDown', [59, 60, 3723]],
      ['GatewayModelFails', [4]],
      ['GatewayModelFails{name="fallback"}', [4]],
      ['GatewayModelFails{name="main"}', [4]],
      ['up{job="a"} == 0', [0]],
    ],
  );
  t.end();
});

t.test('a sign begins with the first second in which it is true, and has ended after the last one', (t) => {
  const at = [2, 7, 8, 9, 12];
  t.equal(beganAfter({ at, from: 5, to: 20 }), 2);
  t.equal(beganAfter({ at, from: 13, to: 20 }), undefined, 'never');
  t.equal(endedAfter({ at, from: 10, to: 20 }), 3);
  t.equal(endedAfter({ at, from: 13, to: 20 }), 0, 'it was over before');
  t.equal(endedAfter({ at, from: 10, to: 13 }), undefined, 'it still is');
  t.end();
});

const WELL: Judged = {
  promised: ['log', 'metric', 'alert', 'health'],
  ending: ['log', 'metric', 'health'],
  early: [],
  told: { log: 1, metric: 2, alert: 60, health: 2 },
  over: { log: 3, metric: 30, health: 4 },
};

t.test('what came too late, never, or before the fault is told', (t) => {
  t.same(broken(WELL), [], 'the end of an alert is not waited for');
  t.equal(
    figuresOf(WELL),
    'told after log 1 s, metric 2 s, alert 60 s, /health 2 s; over after log 3 s, metric 30 s, /health 4 s',
  );
  t.equal(figuresOf({ ...WELL, ending: [] }), 'told after log 1 s, metric 2 s, alert 60 s, /health 2 s');
  const told = { log: 61, metric: 2, health: 2 };
  t.same(broken({ ...WELL, told, over: { metric: 31, health: 4 }, early: ['health'] }), [
    '/health: was there before the fault',
    'log: took 61 s to name the part, allowed 60 s',
    'alert: did not name the part within 60 s',
    'log: did not say that it is over within 30 s',
    'metric: took 31 s to say that it is over, allowed 30 s',
  ]);
  t.end();
});

t.test('whole log lines are read once, also where the log loses its beginning', (t) => {
  let text =
    'no line\n{"level":40,"time":1000,"msg":"one"}\n{"time":"1970-01-01T00:00:02Z","msg":"two"}\n{"time":3000,';
  const reader = new LogReader(() => text);
  exactly(t, reader.fresh(), [
    { time: 1000, msg: 'one', level: 40, text: /^\{.*\}$/ },
    { time: 2000, msg: 'two' },
  ]);
  t.same(reader.fresh(), []);
  text = `${text.slice(10)}"msg":"three"}\n`;
  exactly(t, reader.fresh(), [{ time: 3000, msg: 'three' }]);
  t.end();
});
