/** A run's results for people, and as JUnit's XML for CI servers. */

const MARKS = { passed: 'ok    ', failed: 'FAILED', error: 'ERROR ', cancelled: 'cancelled' };

export const isOver = ({ status }) => status !== 'queued' && status !== 'running';

const failing = ({ checks }) => checks.filter(({ passed }) => !passed);

const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The lines of one result. */
export function resultLines(result) {
  const { status, scenario_name: name, error, usage } = result;
  const turns = usage ? ` (${counted(usage.turns, 'turn')})` : '';
  return [
    `${MARKS[status] ?? status} ${name}${turns}`,
    ...(error ? [`       ${error}`] : []),
    ...failing(result).map((check) => `       ${check.name}: ${check.evidence}`),
  ];
}

const versionOf = ({ version_number: number }) => (number === null ? 'the draft' : `version ${number}`);

export const startLine = (run) =>
  `${counted(run.results.length, 'scenario')} of ${run.agent_name}, ${versionOf(run)}: ${run.run_id}`;

export function endLine({ status, counts }) {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return `${status}: ${parts.join(', ')}`;
}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Characters that XML cannot contain, not even escaped. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udfff]/gu;

const escaped = (text) =>
  String(text)
    .replace(FORBIDDEN, '')
    .replace(/[&<>"]/g, (character) => ESCAPES[character]);

const attributes = (values) =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join('');

const secondsOf = ({ started_at: from, ended_at: to }) =>
  from && to ? ((Date.parse(to) - Date.parse(from)) / 1000).toFixed(3) : '0';

function outcomeOf(result) {
  const { status, error } = result;
  if (status === 'passed') return '';
  if (status === 'failed') {
    const checks = failing(result);
    const text = checks.map(({ name, evidence }) => `${name}: ${evidence}`).join('\n');
    const message = checks.map(({ name }) => name).join('; ');
    return `<failure${attributes({ message })}>${escaped(text)}</failure>`;
  }
  return status === 'error' ? `<error${attributes({ message: error ?? '' })}/>` : '<skipped/>';
}

/** The run as one test suite, with a test case a scenario. */
export function junit(run) {
  const name = run.suite_name ?? 'all scenarios';
  const { failed = 0, error = 0, cancelled = 0 } = run.counts;
  const total = { tests: run.results.length, failures: failed, errors: error, skipped: cancelled };
  const cases = run.results.map((result) => {
    const test = { name: result.scenario_name, classname: run.agent_name, time: secondsOf(result) };
    return `    <testcase${attributes(test)}>${outcomeOf(result)}</testcase>`;
  });
  const suite = { name: `${run.agent_name}: ${name}`, ...total, time: secondsOf(run) };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite${attributes(suite)}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}
