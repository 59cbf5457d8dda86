/** Figures in the text format of Prometheus, as `/metrics` sends them (docs/metrics.md). */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type Figures = ReadonlyMap<string, readonly Sample[]>;

const LINE = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function readFigures(text: string): Figures {
  const figures = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
    if (name === '') continue;
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', of = '']) => [label, of] as const);
    const samples = figures.get(name) ?? [];
    samples.push({ labels: Object.fromEntries(pairs), value: value === '+Inf' ? Infinity : Number(value) });
    figures.set(name, samples);
  }
  return figures;
}

type Which = (labels: Sample['labels']) => boolean;
const all: Which = () => true;

export const sumOf = (figures: Figures, name: string, which: Which = all): number =>
  (figures.get(name) ?? []).reduce((sum, { labels, value }) => (which(labels) ? sum + value : sum), 0);

/** The distinct values of a label. */
export const valuesOf = (figures: Figures, name: string, label: string): readonly string[] => [
  ...new Set((figures.get(name) ?? []).flatMap(({ labels }) => labels[label] ?? [])),
];

/** A quantile of a histogram in seconds, as the bound of its bucket. Undefined if nothing was counted. */
export function quantile(
  figures: Figures,
  name: string,
  part: number,
  which: Which = all,
): number | undefined {
  const buckets = new Map<number, number>();
  for (const { labels, value } of figures.get(`${name}_bucket`) ?? []) {
    if (!which(labels)) continue;
    const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  const bounds = [...buckets.keys()].sort((one, other) => one - other);
  const count = buckets.get(Infinity) ?? 0;
  return count === 0 ? undefined : bounds.find((bound) => (buckets.get(bound) ?? 0) >= count * part);
}
