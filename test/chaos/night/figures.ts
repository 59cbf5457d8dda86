/** Figures of `/metrics`, second by second, as Prometheus would have scraped them: pure. */

/** The target's own labels, which Prometheus adds to every series. */
export const TARGET = { instance: 'gateway', job: 'speech-gateway' } as const;
const OWN = Object.entries(TARGET)
  .map(([name, value]) => `${name}="${value}"`)
  .join(',');

/** A line of the text format: name, labels if there are any, value. */
const SAMPLE = /^(gateway_\w+)(?:\{(.*)\})? (\S+)$/;

/** What one scrape found, by series; those of Node itself are left out. */
export type Scrape = ReadonlyMap<string, number>;

const seriesOf = (name: string, labels: string | undefined): string =>
  `${name}{${labels ? `${labels},` : ''}${OWN}}`;

export function readScrape(text: string): Scrape {
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels, value] = SAMPLE.exec(line) ?? [];
    if (name !== undefined && !Number.isNaN(Number(value))) found.set(seriesOf(name, labels), Number(value));
  }
  return found;
}

export const UP = seriesOf('up', undefined);

/** What a scrape leaves in Prometheus: `up`, and nothing else if there was no answer. */
export const scraped = (text: string | undefined): Scrape =>
  text === undefined ? new Map([[UP, 0]]) : new Map([[UP, 1], ...readScrape(text)]);

/**
 * Values of each series in promtool's notation, a second apart: `_` where nobody scraped, `stale` where a scrape no longer had
 * the series.
 */
export function inputSeries(
  scrapes: readonly (Scrape | undefined)[],
): readonly { readonly series: string; readonly values: string }[] {
  const names = new Set(scrapes.flatMap((scrape) => [...(scrape?.keys() ?? [])]));
  return [...names].map((series) => {
    let known = false;
    const values = scrapes.map((scrape) => {
      const value = scrape?.get(series);
      if (value !== undefined) known = true;
      if (value !== undefined) return String(value);
      if (!scrape || !known) return '_';
      known = false;
      return 'stale';
    });
    return { series, values: values.join(' ') };
  });
}
