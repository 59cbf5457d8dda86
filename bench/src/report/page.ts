/** The style and the script of the HTML report, which draws what the page holds as JSON. */

export const STYLE = `
:root { color-scheme: light dark; --bg: #f7f7f5; --card: #fff; --text: #1c1e21; --soft: #646a73; --line: #e3e4e1;
  --good: #0b7a4b; --bad: #b3261e; --doubt: #8a5a00; --s0: #2563c9; --s1: #c4511c; --s2: #0f8a6d; --s3: #8a4fc7; --s4: #a08400; }
@media (prefers-color-scheme: dark) { :root { --bg: #14161a; --card: #1c1f25; --text: #e8eaed; --soft: #9aa1ab; --line: #30343c;
  --good: #5ccb94; --bad: #ff8a80; --doubt: #e6b450; --s0: #74a9ff; --s1: #ff9a66; --s2: #4fd0ae; --s3: #c79bf2; --s4: #d9c04a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 28px 24px 60px; max-width: 1240px; background: var(--bg); color: var(--text);
  font: 14px/1.45 system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif; }
h1 { font-size: 22px; margin: 0 0 2px; letter-spacing: -.01em; } h2 { font-size: 18px; margin: 40px 0 2px; }
h3 { font-size: 13px; margin: 0 0 8px; font-weight: 600; }
p { margin: 0 0 14px; color: var(--soft); }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 18px 0 6px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; min-width: 116px; }
.tile b { display: block; font-size: 24px; font-weight: 600; font-variant-numeric: tabular-nums; } .tile span { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px; margin: 12px 0; overflow-x: auto; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 540px), 1fr)); gap: 12px; }
.charts .card { margin: 0; overflow: hidden; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; color: var(--soft); white-space: nowrap; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; } .number { text-align: right; white-space: nowrap; } td.name { white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .doubt { color: var(--doubt); } .soft { color: var(--soft); }
sup { color: var(--doubt); } ol { margin: 10px 0 0; padding-left: 20px; color: var(--doubt); font-size: 12.5px; }
details { margin: 12px 0; } summary { cursor: pointer; color: var(--soft); } pre { overflow-x: auto; font-size: 12px; color: var(--soft); }
.u-legend { font-size: 12px; text-align: left; padding-top: 4px; } .u-legend th { font-weight: 400; color: var(--text); border: 0; padding: 0 2px; }
.u-legend td { border: 0; padding: 0; }
.uplot { font-family: inherit; }
`;

/** Browser code: \`charts\` are those of the report, in the order of the places for them. */
export const SCRIPT = `
const charts = JSON.parse(document.getElementById('charts').textContent);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const short = (v) => v == null ? '' : Math.abs(v) >= 100 ? v.toFixed(0) : Math.abs(v) >= 10 ? v.toFixed(1) : String(+v.toPrecision(2));
const percentile = (x) => 'p' + +(100 * (1 - 1 / x)).toFixed(2);
const TICKS = [1, 2, 10, 20, 100, 1000, 10000];
let drawn = [];
function draw(place, chart) {
  const tables = chart.lines.map(({ points }) => [points.map(([x]) => x), points.map(([, y]) => y)]);
  const data = tables.length === 0 ? [[]] : uPlot.join(tables);
  if (chart.limit !== undefined) data.push(data[0].map(() => chart.limit));
  const axis = { stroke: color('--soft'), grid: { stroke: color('--line'), width: 1 }, ticks: { stroke: color('--line'), width: 1 } };
  const isPercentiles = chart.kind === 'percentiles';
  const most = Math.max(2, ...data[0]);
  const ticks = TICKS.filter((tick) => tick <= most);
  const series = chart.lines.map(({ name }, i) => ({ label: name, stroke: color('--s' + i % 5), width: 2, spanGaps: true,
    points: { show: chart.kind === 'curve', size: 7 }, value: (_, v) => short(v) }));
  if (chart.limit !== undefined) series.push({ label: 'objective', stroke: color('--bad'), width: 1, dash: [6, 4], points: { show: false }, value: (_, v) => short(v) });
  const positive = data.slice(1).flat().filter((v) => v > 0);
  const log = chart.y.log && positive.length > 0;
  const power = (v, round) => 10 ** round(Math.log10(v));
  const y = log ? { distr: 3, range: [power(Math.min(...positive), Math.floor), power(Math.max(...positive) * 1.0001, Math.ceil)] } : { range: (_, low, high) => [0, high * 1.08 || 1] };
  place.replaceChildren();
  return new uPlot({
    width: place.clientWidth, height: 250, series: [{ label: isPercentiles ? 'percentile' : chart.x.label, value: (_, v) => v == null ? '' : isPercentiles ? percentile(v) : short(v) }, ...series],
    scales: { x: isPercentiles ? { time: false, distr: 3, range: [1, most] } : { time: false, distr: chart.x.log ? 3 : 1 }, y },
    axes: [
      { ...axis, ...(isPercentiles ? { splits: () => ticks, filter: (_, splits) => splits, values: (_, all) => all.map(percentile) } : { label: chart.x.label, labelSize: 20, labelFont: '12px sans-serif' }) },
      { ...axis, size: 56, label: chart.y.label, labelSize: 18, labelFont: '12px sans-serif', values: (_, all) => all.map((v) => v == null || (log && Math.abs(Math.log10(v) % 1) > 1e-6) ? '' : short(v)) },
    ],
    legend: { live: true }, cursor: { drag: { x: true, y: false } },
  }, data, place);
}
function drawAll() {
  for (const plot of drawn) plot.destroy();
  drawn = charts.map((chart, index) => draw(document.getElementById('chart-' + index), chart));
}
drawAll();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
let timer;
addEventListener('resize', () => { clearTimeout(timer); timer = setTimeout(drawAll, 150); });
`;
