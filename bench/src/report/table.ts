/** The table at the end of a run: latencies one a line with their percentiles, all other figures below them. */
import type { Change } from '../compare.js';
import type { Figure } from '../figures.js';
import type { Report, ScenarioReport, Table } from './report.js';

/** Three significant digits. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return size >= 0.1 || size === 0 ? value.toFixed(2) : value.toFixed(4);
}

export const nameOf = ({ name, subject }: Figure): string =>
  subject === 'gateway' ? name : `${name} [${subject}]`;

/** Numbers of remarks, which stand below the table once each. */
export class Notes {
  readonly #notes: string[] = [];

  mark(figure: Pick<Figure, 'reliable' | 'why'>): string {
    return (figure.reliable ? [] : (figure.why ?? 'unreliable').split('; '))
      .map((note) => `(${this.#number(note)})`)
      .join(' ');
  }

  get texts(): readonly string[] {
    return this.#notes;
  }

  #number(note: string): number {
    const at = this.#notes.indexOf(note);
    return at >= 0 ? at + 1 : this.#notes.push(note);
  }
}

function columns(rows: readonly (readonly string[])[], left: readonly number[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    left.includes(column) ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join('  ').trimEnd());
}

const PERCENTILE = /^(.+)\.(p50|p90|p95|p99|p99\.9|max)$/;
export const PERCENTILES = ['p50', 'p90', 'p95', 'p99', 'p99.9', 'max'] as const;

/** Figures of one latency, by percentile. */
export type Group = Partial<Record<(typeof PERCENTILES)[number], Figure>>;

/** Latencies by name and server; figures that are none are left over. */
export function groupLatencies(figures: readonly Figure[]): { groups: Map<string, Group>; others: Figure[] } {
  const groups = new Map<string, Group>();
  const others: Figure[] = [];
  for (const figure of figures) {
    const [, reading, percentile] = PERCENTILE.exec(figure.name) ?? [];
    if (reading === undefined || figure.target !== null) others.push(figure);
    if (reading === undefined) continue;
    const key = nameOf({ ...figure, name: reading });
    groups.set(key, { ...groups.get(key), [percentile ?? '']: figure });
  }
  for (const [key, group] of groups) {
    if (Object.keys(group).length > 1) continue;
    groups.delete(key);
    others.push(...Object.values(group).filter((figure) => !others.includes(figure)));
  }
  return { groups, others };
}

const shownValue = (figure: Figure | undefined): string =>
  figure === undefined ? '' : figure.value === null ? '–' : formatNumber(figure.value);

/** Why something is not to be relied upon; that there are too few samples shows as a dash. */
export const doubtsIn = (group: Group): string[] => [
  ...new Set(
    Object.values(group)
      .flatMap(({ why }) => why?.split('; ') ?? [])
      .filter((note) => !note.startsWith('needs ')),
  ),
];

function latencyRow(key: string, group: Group, notes: Notes): string[] {
  const { p50 } = group;
  const doubts = doubtsIn(group);
  const ratio =
    p50?.baseline && p50.ratio !== null ? `${formatNumber(p50.ratio)} × ${p50.baseline.name}` : '';
  return [
    key,
    String(Object.values(group)[0]?.n ?? ''),
    ...PERCENTILES.map((each) => shownValue(group[each])),
    ratio,
    notes.mark({ reliable: doubts.length === 0, why: doubts.join('; ') }),
  ];
}

function latencyTable(groups: ReadonlyMap<string, Group>, notes: Notes): string[] {
  if (groups.size === 0) return [];
  const head = ['latency, ms', 'n', ...PERCENTILES, 'p50 against', ''];
  const rows = [...groups].map(([key, group]) => latencyRow(key, group, notes));
  return [...columns([head, ...rows], [0, 8, 9]), ''];
}

function verdictOf({ target, met }: Figure): string {
  if (target === null) return '';
  return met === null ? `? ${target}` : `${met ? 'met' : 'MISSED'} ${target}`;
}

function otherRow(figure: Figure, notes: Notes): string[] {
  const { value, unit, n, baseline, ratio } = figure;
  const against =
    baseline === null || ratio === null
      ? ''
      : `${formatNumber(ratio)} × ${formatNumber(baseline.value)} ${baseline.name}`;
  return [
    nameOf(figure),
    value === null ? '–' : formatNumber(value),
    unit,
    String(n),
    against,
    verdictOf(figure),
    notes.mark(figure),
  ];
}

/** Words to the left, and everything behind the first column to the right where there are many columns. */
function formatRows({ title, head, rows }: Table): string[] {
  const left = head.length > 2 ? [0] : [0, 1];
  return ['', title, ...columns([head, ...rows], left)];
}

const remarksOf = ({ name, failures, remarks = [], error, skipped }: ScenarioReport): string[] => [
  ...remarks.map((remark) => `${name}: ${remark}`),
  ...Object.entries(failures).flatMap(([server, reasons]) =>
    Object.entries(reasons).map(([reason, count]) => `${name}: ${count} failed at ${server}: ${reason}`),
  ),
  ...(error === undefined ? [] : [`${name}: could not run: ${error}`]),
  ...(skipped === undefined ? [] : [`${name}: left out: ${skipped}`]),
];

export function formatTable({ figures, scenarios }: Pick<Report, 'figures' | 'scenarios'>): string {
  const notes = new Notes();
  const { groups, others } = groupLatencies(figures);
  const latencies = latencyTable(groups, notes);
  const rows = others.map((figure) => otherRow(figure, notes));
  const head = ['figure', 'value', '', 'n', 'against', 'target', ''];
  const figureLines = rows.length === 0 ? [] : columns([head, ...rows], [0, 2, 4, 5, 6]);
  return [
    ...latencies,
    ...figureLines,
    ...notes.texts.map((note, index) => `(${index + 1}) ${note}`),
    ...scenarios.flatMap(({ tables = [] }) => tables.filter(({ isLong }) => !isLong).flatMap(formatRows)),
    ...scenarios.flatMap(remarksOf),
  ].join('\n');
}

const percent = (change: number): string => `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`;

export const formatChanges = (changes: readonly Change[]): string =>
  columns(
    [
      ['figure', 'before', 'after', 'change', ''],
      ...changes.map(({ name, before, after, change, doubts }) => [
        name,
        formatNumber(before),
        formatNumber(after),
        percent(change),
        doubts,
      ]),
    ],
    [0, 4],
  ).join('\n');
