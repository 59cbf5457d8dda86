/** A run held against an earlier one. Refused where they did not measure the same. */
import { isDeepStrictEqual } from 'node:util';
import type { Figure } from './figures.js';
import { type Report, type ScenarioReport, VERSION } from './report/report.js';

export class ComparisonRefused extends Error {
  override readonly name = 'ComparisonRefused';
}

export interface Change {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  /** (after - before) / before. */
  readonly change: number;
  /** In words: what speaks against comparing the two. */
  readonly doubts: string;
}

/** Throws ComparisonRefused where the text is no report of this version. */
export function readReport(text: string): Report {
  let report: Partial<Report>;
  try {
    report = JSON.parse(text) as Partial<Report>;
  } catch {
    throw new ComparisonRefused('the file to compare with is no JSON');
  }
  if (report.version !== VERSION || !Array.isArray(report.scenarios))
    throw new ComparisonRefused(`the file to compare with is no report of version ${VERSION}`);
  return report as Report;
}

function checkSame(before: ScenarioReport, after: ScenarioReport): void {
  if (isDeepStrictEqual(before.parameters, json(after.parameters))) return;
  throw new ComparisonRefused(
    `${after.name} was measured with other parameters, so the two cannot be compared`,
  );
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

const sameFigure = (one: Figure, other: Figure): boolean =>
  one.name === other.name && one.subject === other.subject;

/** A ratio carries over from one machine to another, where a time does not. */
function changeOf(before: Figure, after: Figure, isOtherMachine: boolean): Change | undefined {
  const byRatio = before.ratio !== null && after.ratio !== null;
  const [was, is] = byRatio ? [before.ratio, after.ratio] : [before.value, after.value];
  if (was === null || is === null) return undefined;
  const doubts = [
    isOtherMachine && !byRatio && 'another machine',
    !(before.reliable && after.reliable) && 'unreliable',
  ].filter(Boolean);
  const name = `${after.subject === 'gateway' ? after.name : `${after.name} [${after.subject}]`}${byRatio ? ' (ratio)' : ''}`;
  const change = was === 0 ? (is === 0 ? 0 : Infinity) : (is - was) / was;
  return {
    name,
    before: was,
    after: is,
    change,
    doubts: doubts.length === 0 ? '' : `(${doubts.join(', ')})`,
  };
}

/** The figures that both have. Throws ComparisonRefused where a scenario's parameters, or the run's, differ. */
export function compareReports(before: Report, after: Report): Change[] {
  if (!isDeepStrictEqual(before.run, json(after.run)))
    throw new ComparisonRefused('the runs had other arguments, so the two cannot be compared');
  const pairs = after.scenarios.flatMap((now) => {
    const then = before.scenarios.find(({ name }) => name === now.name);
    return then === undefined ? [] : [[then, now] as const];
  });
  if (pairs.length === 0) throw new ComparisonRefused('the runs have no scenario in common');
  for (const [then, now] of pairs) checkSame(then, now);
  const isOtherMachine = !isDeepStrictEqual(before.machine, json(after.machine));
  return pairs.flatMap(([then, now]) =>
    now.figures.flatMap((figure) => {
      const other = then.figures.find((earlier) => sameFigure(earlier, figure));
      const change = other && changeOf(other, figure, isOtherMachine);
      return change ? [change] : [];
    }),
  );
}
