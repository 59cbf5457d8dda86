/**
 * Lighthouse itself, in headless Chromium. It is not among the tests' packages, since it is large and its scores are those of the
 * machine. Install it anywhere (`npm install --prefix FOLDER lighthouse`), and say where.
 */
import { createRequire } from 'node:module';
import { resolve as absolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { externalTool } from '../../dist/test/fixtures/external.js';

/** Of the site and the widget's page. */
const PROMISED = { performance: 90, accessibility: 95, 'best-practices': 95 };
const RUNS = 5;

const medianOf = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** What it finds wrong in a category that counts, as words. */
const wrong = (lhr) =>
  Object.values(lhr.categories).flatMap(({ id, auditRefs }) =>
    auditRefs
      .filter(({ weight, id: audit }) => weight > 0 && (lhr.audits[audit].score ?? 1) < 0.9)
      .map(({ id: audit }) => `${id}: ${lhr.audits[audit].title} ${lhr.audits[audit].displayValue ?? ''}`),
  );

/**
 * Starts it from the folder in which it is installed. `look(address, form, before)` resolves with `{ scores, wrong }` of a page, `form`
 * being desktop or mobile; `before` may prepare the browser's page.
 */
export async function startLighthouse(folder) {
  if (!folder) throw new Error('Say in which folder lighthouse is installed');
  const { resolve } = createRequire(absolute(folder, 'package.json'));
  const load = async (name) => (await import(pathToFileURL(resolve(name)).href)).default;
  const lighthouse = await load('lighthouse');
  const puppeteer = await load('puppeteer-core');
  const configs = { desktop: await load('lighthouse/core/config/desktop-config.js'), mobile: undefined };
  const browser = await puppeteer.launch({
    executablePath: externalTool('chromium'),
    args: ['--no-sandbox'],
  });
  async function look(address, form, before = async () => {}) {
    const page = await browser.newPage();
    try {
      await before(page);
      const { lhr } = await lighthouse(address, { disableStorageReset: true }, configs[form], page);
      const scores = Object.values(lhr.categories).map(({ id, score }) => [id, Math.round(score * 100)]);
      return { scores: Object.fromEntries(scores), wrong: wrong(lhr) };
    } finally {
      await page.close();
    }
  }
  /** The medians of five looks, what the first found wrong, and whether all that is promised of pages is kept. */
  async function medians(address, form) {
    const runs = [];
    for (let run = 0; run < RUNS; run += 1) runs.push(await look(address, form));
    const median = (category) => medianOf(runs.map(({ scores }) => scores[category]));
    const scores = Object.fromEntries(Object.keys(PROMISED).map((category) => [category, median(category)]));
    const kept = Object.entries(PROMISED).every(([category, least]) => scores[category] >= least);
    return { scores, wrong: runs[0].wrong, kept };
  }
  return { look, medians, stop: () => browser.close() };
}
