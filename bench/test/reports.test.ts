/** Results of a run: figures, exit codes, JUnit, JSON, HTML, the table, and comparisons with earlier runs. */
import t from 'tap';
import { compareReports, ComparisonRefused, readReport } from '../src/compare.js';
import { formatHtml } from '../src/report/html.js';
import { formatJunit } from '../src/report/junit.js';
import { EXIT, exitCodeOf } from '../src/report/report.js';
import { formatTable } from '../src/report/table.js';
import { figure, reportOf, written } from './fixtures/reports.js';

const BARE = { name: 'bare', value: 2 };

t.test('a figure is held to its target by value or by ratio', async (t) => {
  t.hasStrict(figure({ name: 'a.cpu', baseline: BARE }), {
    ratio: 1.5,
    target: 'ratio <= 1.5',
    met: true,
    reliable: true,
  });
  t.hasStrict(figure({ name: 'a.cpu', value: 4, baseline: BARE }), { ratio: 2, met: false });
  t.hasStrict(figure({ name: 'a.cpu' }), { ratio: null, met: null }, 'no baseline, no verdict');
  t.hasStrict(figure({ name: 'a.added.p50' }), { target: 'value <= 5', met: true });
  t.hasStrict(figure({ name: 'a.cpu', subject: 'peer', baseline: BARE }), { target: null, met: null });
  t.hasStrict(figure({ name: 'b' }), { target: null, met: null, baseline: null, ratio: null });
});

t.test('a figure that is withheld or doubted says why, and is not reliable', async (t) => {
  t.hasStrict(figure({ name: 'b', value: null, withheld: 'needs more' }), {
    value: null,
    reliable: false,
    why: 'needs more',
  });
  t.hasStrict(figure({ name: 'b', doubts: ['busy', 'busy', 'late'] }), {
    reliable: false,
    why: 'busy; late',
  });
  t.hasStrict(figure({ name: 'b', value: Number.NaN }), { value: null });
  t.notOk('why' in figure({ name: 'b' }));
});

t.test('the exit code distinguishes a missed target from an unknown figure', async (t) => {
  const code = (...figures: ReturnType<typeof figure>[]) => exitCodeOf(reportOf(figures));
  t.equal(code(figure({ name: 'b' }), figure({ name: 'a.added.p50' })), EXIT.met);
  t.equal(code(figure({ name: 'a.added.p50', value: 6 })), EXIT.missed);
  t.equal(code(figure({ name: 'a.added.p50', value: 6, doubts: ['busy'] })), EXIT.unreliable);
  t.equal(code(figure({ name: 'a.added.p50', value: null, withheld: 'few' })), EXIT.unreliable);
  const [scenario] = reportOf([]).scenarios;
  t.equal(exitCodeOf({ figures: [], scenarios: [{ ...scenario!, error: 'gone' }] }), EXIT.failed);
});

t.test('the JSON report has a version, the machine and every figure with all its fields', async (t) => {
  const report = JSON.parse(written(reportOf([figure({ name: 'a.cpu', baseline: BARE })]))) as object;
  t.match(report, { version: 1, machine: { cores: Number }, run: {}, scenarios: [{ parameters: {} }] });
  const [first] = (report as { figures: object[] }).figures;
  const fields = ['name', 'subject', 'value', 'unit', 'n', 'baseline', 'ratio', 'target', 'met', 'reliable'];
  t.same(Object.keys(first ?? {}), fields);
});

t.test('JUnit has a case for each target, and no markup out of names', async (t) => {
  const figures = [
    figure({ name: 'a.added.p50', value: 6 }),
    figure({ name: 'a.cpu', value: 9, baseline: BARE, doubts: ['<busy> & "late"'] }),
    figure({ name: 'b' }),
  ];
  const xml = formatJunit(reportOf(figures));
  t.match(xml, '<testsuite name="a" tests="2" failures="1" errors="0" skipped="1"');
  t.match(xml, '<failure message="6 ms, ratio none, target value &lt;= 5"/>');
  t.match(xml, '&lt;busy&gt; &amp; &quot;late&quot;');
  t.notMatch(xml, 'name="b"');
});

t.test('the HTML report needs no other file, and no text of it is markup', async (t) => {
  const lines = [{ name: '</script><b>', points: [[1, 2] as const] }];
  const chart = { title: 'x<y', kind: 'curve', x: { label: 'n' }, y: { label: 'ms' }, lines } as const;
  const report = reportOf([figure({ name: 'a.added.p50', doubts: ['<busy>'] })]);
  const html = formatHtml({
    ...report,
    scenarios: report.scenarios.map((each) => ({ ...each, charts: [chart] })),
  });
  t.match(html, 'x&lt;y');
  t.match(html, '&lt;busy&gt;');
  t.notMatch(html, '</script><b>');
  t.notMatch(html, /<(script|link|img)[^>]+(src|href)="(?!data:)/);
  t.match(html, 'uPlot');
});

t.test('the table names each doubt once, below', async (t) => {
  const table = formatTable(
    reportOf([figure({ name: 'b', doubts: ['busy'] }), figure({ name: 'c', doubts: ['busy'] })]),
  );
  t.equal(table.match(/busy/g)?.length, 1);
  t.equal(table.match(/\(1\)/g)?.length, 3);
});

t.test('a comparison shows the change of each figure that both have', async (t) => {
  const before = readReport(written(reportOf([figure({ name: 'b', value: 2 }), figure({ name: 'gone' })])));
  const changes = compareReports(
    before,
    reportOf([figure({ name: 'b', value: 3 }), figure({ name: 'new' })]),
  );
  t.equal(changes.length, 1);
  t.hasStrict(changes, [{ name: 'b', before: 2, after: 3, change: 0.5, doubts: '' }]);
});

t.test('a comparison is of ratios where there are any, and doubts times of another machine', async (t) => {
  const machine = { ...reportOf([]).machine, cores: 64 };
  const before = reportOf([figure({ name: 'a.cpu', baseline: BARE }), figure({ name: 'b' })], { machine });
  const changes = compareReports(
    before,
    reportOf([figure({ name: 'a.cpu', value: 6, baseline: BARE }), figure({ name: 'b' })]),
  );
  t.hasStrict(changes[0], { name: 'a.cpu (ratio)', before: 1.5, after: 3, doubts: '' });
  t.hasStrict(changes[1], { name: 'b', doubts: '(another machine)' });
});

t.test('a comparison with other inputs is refused', async (t) => {
  const now = reportOf([figure({ name: 'b' })]);
  const refused = (text: string) => t.throws(() => compareReports(readReport(text), now), ComparisonRefused);
  refused(written(reportOf([figure({ name: 'b' })], {}, { rate: 6 })));
  refused(written(reportOf([figure({ name: 'b' })], { run: { quick: true } })));
  refused(written({ ...now, scenarios: now.scenarios.map((each) => ({ ...each, name: 'other' })) }));
  refused(JSON.stringify({ ...now, version: 2 }));
  refused('{}');
  refused('not JSON');
});
