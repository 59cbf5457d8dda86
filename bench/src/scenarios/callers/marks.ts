/** The figures of the trials: each with its count, and a row for each caller. */
import { type FigureInput, latencyFigures } from '../../figures.js';
import { latenciesOf, median } from '../../histogram.js';
import type { Table } from '../../report/report.js';
import type { Mark } from './kinds.js';

/** What a trial told, and whose it was. */
export interface MarkOf extends Mark {
  readonly caller: string;
}

const isCount = (marks: readonly MarkOf[]): boolean => typeof marks[0]?.value === 'boolean';
const yes = (marks: readonly MarkOf[]): number => marks.filter(({ value }) => value === true).length;
const times = (marks: readonly MarkOf[]): number[] => marks.map(({ value }) => Number(value));

/** Those that did not come are slower than all others. */
const middle = (values: readonly number[]): number =>
  median(values.map((value) => (Number.isNaN(value) ? Infinity : value)));

const milliseconds = (value: number): string => (Number.isFinite(value) ? `${Math.round(value)}` : 'none');

/** `12 of 20`, or `median 912 ms over 20, 1 without`. */
export function resultOf(marks: readonly MarkOf[]): string {
  if (isCount(marks)) return `${yes(marks)} of ${marks.length}`;
  const values = times(marks);
  const without = values.filter(Number.isNaN).length;
  const tail = without === 0 ? '' : `, ${without} without`;
  return `median ${milliseconds(middle(values))} ms over ${values.length}${tail}`;
}

/** As short as it goes: `3/4`, or the median in ms. */
function shortResultOf(marks: readonly MarkOf[]): string {
  if (marks.length === 0) return '–';
  return isCount(marks) ? `${yes(marks)}/${marks.length}` : milliseconds(middle(times(marks)));
}

/** The marks by their figure, in the order in which these came. */
function byFigure(marks: readonly MarkOf[]): Map<string, MarkOf[]> {
  const groups = new Map<string, MarkOf[]>();
  for (const mark of marks) groups.set(mark.figure, [...(groups.get(mark.figure) ?? []), mark]);
  return groups;
}

/** Shares as percent with their count, and latencies with their percentiles. */
export function figuresOf(
  prefix: string,
  marks: readonly MarkOf[],
  doubts: readonly string[],
): FigureInput[] {
  const common = { subject: 'gateway', doubts };
  return [...byFigure(marks)].flatMap(([figure, all]): FigureInput[] => {
    const name = `${prefix}.${figure}`;
    if (!isCount(all)) return latencyFigures(name, latenciesOf(times(all)), common, undefined, [50, 90]);
    return [{ ...common, name, unit: '%', n: all.length, value: (100 * yes(all)) / all.length }];
  });
}

/** A row for each figure. */
export const figureTable = (title: string, marks: readonly MarkOf[]): Table => ({
  title,
  head: ['figure', 'result'],
  rows: [...byFigure(marks)].map(([figure, all]) => [figure, resultOf(all)]),
});

/** Columns of a table that a terminal can show. */
const MOST_COLUMNS = 7;

/** A row for each caller, and a column for each figure: in as many tables as these need. */
export function callerTables(title: string, marks: readonly MarkOf[], callers: readonly string[]): Table[] {
  const figures = [...byFigure(marks)];
  const tables: Table[] = [];
  for (let from = 0; from < figures.length; from += MOST_COLUMNS) {
    const shown = figures.slice(from, from + MOST_COLUMNS);
    const rows = callers.map((caller) => [
      caller,
      ...shown.map(([, all]) => shortResultOf(all.filter((mark) => mark.caller === caller))),
    ]);
    tables.push({ title, head: ['caller', ...shown.map(([figure]) => figure)], rows });
  }
  return tables;
}
