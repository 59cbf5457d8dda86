/** The report as one HTML file that needs nothing else: tables, and plots by uPlot, which is in it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Figure } from '../figures.js';
import { SCRIPT, STYLE } from './page.js';
import type { Chart, Report, ScenarioReport, Table } from './report.js';
import { doubtsIn, formatNumber, type Group, groupLatencies, nameOf, Notes, PERCENTILES } from './table.js';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replace(/[&<>"]/g, (found) => ESCAPES[found] ?? '');

/** A file of the uPlot package. */
function asset(name: string): string {
  const main = createRequire(import.meta.url).resolve('uplot');
  return readFileSync(path.join(path.dirname(main), name), 'utf8');
}

/** JSON inside of a script element. */
const embedded = (value: unknown): string => JSON.stringify(value).replace(/</g, '\\u003c');

const tile = (value: number, label: string, kind: string): string =>
  `<div class="tile"><b class="${value === 0 ? '' : kind}">${value}</b><span>${label}</span></div>`;

function tiles(figures: readonly Figure[]): string {
  const count = (holds: (figure: Figure) => boolean): number => figures.filter(holds).length;
  return `<div class="tiles">${[
    tile(
      count(({ met }) => met === true),
      'targets met',
      'good',
    ),
    tile(
      count(({ met }) => met === false),
      'missed',
      'bad',
    ),
    tile(
      count(({ target, met }) => target !== null && met === null),
      'targets without a figure',
      'doubt',
    ),
    tile(
      count(({ reliable }) => !reliable),
      'unreliable or withheld',
      'doubt',
    ),
    tile(figures.length, 'figures', ''),
  ].join('')}</div>`;
}

const marks = (text: string): string => (text === '' ? '' : ` <sup>${text.replace(/[()]/g, '')}</sup>`);

const cell = (figure: Figure | undefined): string =>
  `<td class="number">${figure === undefined ? '' : figure.value === null ? '<span class="soft">–</span>' : formatNumber(figure.value)}</td>`;

function latencyRow(key: string, group: Group, notes: Notes): string {
  const doubts = doubtsIn(group);
  const mark = notes.mark({ reliable: doubts.length === 0, why: doubts.join('; ') });
  const { p50 } = group;
  const against =
    p50?.baseline && p50.ratio !== null ? `${formatNumber(p50.ratio)} × ${escape(p50.baseline.name)}` : '';
  const cells = PERCENTILES.map((percentile) => cell(group[percentile])).join('');
  const n = Object.values(group)[0]?.n ?? 0;
  return `<tr><td class="name">${escape(key)}${marks(mark)}</td><td class="number soft">${n}</td>${cells}<td class="soft">${against}</td></tr>`;
}

function latencyTable(groups: ReadonlyMap<string, Group>, notes: Notes): string {
  if (groups.size === 0) return '';
  const heads = ['n', ...PERCENTILES].map((head) => `<th class="number">${head}</th>`).join('');
  const rows = [...groups].map(([key, group]) => latencyRow(key, group, notes)).join('');
  return `<div class="card"><table><tr><th>latency, ms</th>${heads}<th>p50 against</th></tr>${rows}</table></div>`;
}

function verdict({ target, met, reliable }: Figure): string {
  if (target === null) return '';
  const kind = met === null || (!met && !reliable) ? 'doubt' : met ? 'good' : 'bad';
  const word = met === null ? 'unknown' : met ? 'met' : 'missed';
  return `<span class="${kind}">${word}</span> <span class="soft">${escape(target)}</span>`;
}

function otherRow(figure: Figure, notes: Notes): string {
  const { unit, n, baseline, ratio } = figure;
  const against =
    baseline === null || ratio === null
      ? ''
      : `${formatNumber(ratio)} × ${formatNumber(baseline.value)} ${escape(baseline.name)}`;
  return `<tr><td class="name">${escape(nameOf(figure))}${marks(notes.mark(figure))}</td>${cell(figure)}<td class="soft">${escape(unit)}</td><td class="number soft">${n}</td><td class="soft">${against}</td><td class="name">${verdict(figure)}</td></tr>`;
}

function otherTable(figures: readonly Figure[], notes: Notes): string {
  if (figures.length === 0) return '';
  const rows = figures.map((figure) => otherRow(figure, notes)).join('');
  return `<div class="card"><table><tr><th>figure</th><th class="number">value</th><th></th><th class="number">n</th><th>against</th><th>target</th></tr>${rows}</table></div>`;
}

const failureLines = ({ failures }: ScenarioReport): string[] =>
  Object.entries(failures).flatMap(([server, reasons]) =>
    Object.entries(reasons).map(
      ([reason, count]) => `<p class="bad">${count} failed at ${escape(server)}: ${escape(reason)}</p>`,
    ),
  );

function remarks(report: ScenarioReport): string {
  const lines = [
    ...(report.remarks ?? []).map((remark) => `<p>${escape(remark)}</p>`),
    ...failureLines(report),
  ];
  if (report.error !== undefined) lines.push(`<p class="bad">could not run: ${escape(report.error)}</p>`);
  if (report.skipped !== undefined) lines.push(`<p>left out: ${escape(report.skipped)}</p>`);
  return lines.join('');
}

/** The table of clips, each with its origin. */
function clipTable({ clips = [] }: ScenarioReport): string {
  if (clips.length === 0) return '';
  const recorded = clips.filter(({ origin }) => origin === 'recorded').length;
  const rows = clips.map(
    ({ name, text, origin, source }) =>
      `<tr><td class="name">${escape(name)}</td><td>${origin}</td><td>${escape(text)}</td><td class="soft">${escape(source)}</td></tr>`,
  );
  return `<details><summary>clips: ${clips.length - recorded} synthetic, ${recorded} recorded</summary><div class="card"><table>${rows.join('')}</table></div></details>`;
}

/** A table of words; long ones are folded. */
function wordTable({ title, head, rows, isLong = false }: Table): string {
  const row = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((text) => `<${tag}>${escape(text)}</${tag}>`).join('')}</tr>`;
  const table = `<div class="card"><table>${row(head, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table></div>`;
  return isLong
    ? `<details><summary>${escape(title)}</summary>${table}</details>`
    : `<h3>${escape(title)}</h3>${table}`;
}

/** `first`: how many charts stand before its own. */
function section(report: ScenarioReport, first: number): string {
  const notes = new Notes();
  const { groups, others } = groupLatencies(report.figures);
  const tables = latencyTable(groups, notes) + otherTable(others, notes);
  const places = report.charts.map(
    ({ title }, index) =>
      `<div class="card"><h3>${escape(title)}</h3><div id="chart-${first + index}"></div></div>`,
  );
  const list = notes.texts.map((note) => `<li>${escape(note)}</li>`).join('');
  return `<section><h2>${escape(report.name)}</h2><p>${escape(report.title)} · ${report.seconds.toFixed(0)} s</p>
${remarks(report)}${tables}${list === '' ? '' : `<ol>${list}</ol>`}
<div class="charts">${places.join('')}</div>
${(report.tables ?? []).map(wordTable).join('\n')}
${clipTable(report)}
<details><summary>parameters</summary><pre>${escape(JSON.stringify(report.parameters, null, 1))}</pre></details></section>`;
}

function sections(scenarios: readonly ScenarioReport[]): string {
  let first = 0;
  return scenarios
    .map((each) => {
      const html = section(each, first);
      first += each.charts.length;
      return html;
    })
    .join('\n');
}

/** Curves of nothing are left out. */
const drawable = ({ lines }: Chart): boolean => lines.some(({ points }) => points.length > 0);

export function formatHtml(report: Report): string {
  const { at, machine, run, figures } = report;
  const scenarios = report.scenarios.map((each) => ({ ...each, charts: each.charts.filter(drawable) }));
  const charts = scenarios.flatMap((each) => each.charts);
  const where = `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<title>Speech bench, ${escape(at)}</title><style>${asset('uPlot.min.css')}${STYLE}</style></head><body>
<h1>Speech bench</h1><p>${escape(at)} · ${escape(where)}</p>
${tiles(figures)}
<p>Latencies count from the instant at which a request was due. A dash is a percentile that too few samples, or failures, stand behind. A small number refers to why a figure is not to be relied upon.</p>
${sections(scenarios)}
<details><summary>arguments</summary><pre>${escape(JSON.stringify(run, null, 1))}</pre></details>
<script type="application/json" id="charts">${embedded(charts)}</script>
<script>${asset('uPlot.iife.min.js')}</script><script>${SCRIPT}</script></body></html>
`;
}
