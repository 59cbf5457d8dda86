/** JUnit's XML: a suite a scenario, a case a figure that has a target. */
import type { Figure } from '../figures.js';
import type { Report, ScenarioReport } from './report.js';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** XML 1.0 has no control characters, not even escaped. */
const isAllowed = (character: string): boolean => character >= ' ' || '\t\n\r'.includes(character);
const escape = (text: string): string =>
  [...text]
    .filter(isAllowed)
    .map((character) => ESCAPES[character] ?? character)
    .join('');

const isCase = ({ target }: Figure): boolean => target !== null;

function outcomeOf({ value, unit, ratio, target, met, reliable, why }: Figure): string {
  const said = `${value ?? 'withheld'} ${unit}, ratio ${ratio ?? 'none'}, target ${target}${why === undefined ? '' : `: ${why}`}`;
  if (met === true) return '';
  if (met === null || !reliable) return `<skipped message="${escape(said)}"/>`;
  return `<failure message="${escape(said)}"/>`;
}

const caseOf = (figure: Figure, suite: string): string =>
  `    <testcase classname="${escape(suite)}" name="${escape(figure.name)}">${outcomeOf(figure)}</testcase>`;

function suiteOf({ name, figures, seconds, error, skipped }: ScenarioReport): string {
  const cases = figures.filter(isCase).map((figure) => caseOf(figure, name));
  if (error !== undefined)
    cases.push(
      `    <testcase classname="${name}" name="runs"><error message="${escape(error)}"/></testcase>`,
    );
  if (skipped !== undefined)
    cases.push(
      `    <testcase classname="${name}" name="runs"><skipped message="${escape(skipped)}"/></testcase>`,
    );
  const count = (what: string): number => cases.filter((each) => each.includes(`<${what} `)).length;
  const counts = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`;
  return [
    `  <testsuite name="${escape(name)}" ${counts} time="${seconds.toFixed(1)}">`,
    ...cases,
    '  </testsuite>',
  ].join('\n');
}

export const formatJunit = ({ scenarios }: Pick<Report, 'scenarios'>): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="speech-bench">',
    ...scenarios.map(suiteOf),
    '</testsuites>',
    '',
  ].join('\n');
