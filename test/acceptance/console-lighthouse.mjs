/**
 * Lighthouse's own scores of the console, of a user who has signed in. It is not among the tests' packages, since it is
 * large and its scores are those of the machine; measures.mjs has what tests hold. Install it anywhere, and say where:
 *
 *   npm install --prefix FOLDER lighthouse
 *   node test/acceptance/console-lighthouse.mjs FOLDER [VIEW …]     the views' addresses, such as agents; '' is Start
 *
 * Fails where one score of a desktop or a phone is below 95.
 */
import { createRequire } from 'node:module';
import { resolve as absolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { externalTool } from '../../dist/test/fixtures/external.js';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';

const ENOUGH = 95;
const VIEWS = [
  ...['', 'speak', 'listen', 'realtime', 'talk', 'agents', 'tools', 'knowledge', 'voices', 'tests', 'phone'],
  ...['calls', 'deliveries', 'machine'],
];
const FORMS = ['desktop', 'mobile'];

const [folder = '', ...asked] = process.argv.slice(2);
if (folder === '') throw new Error('Say in which folder lighthouse is installed');
const { resolve } = createRequire(absolute(folder, 'package.json'));
const load = async (name) => (await import(pathToFileURL(resolve(name)).href)).default;
const lighthouse = await load('lighthouse');
const puppeteer = await load('puppeteer-core');
const CONFIGS = { desktop: await load('lighthouse/core/config/desktop-config.js'), mobile: undefined };

/** What it finds wrong in a category that counts, as words. */
const wrong = (lhr) =>
  Object.values(lhr.categories).flatMap(({ id, auditRefs }) =>
    auditRefs
      .filter(({ weight, id: audit }) => weight > 0 && (lhr.audits[audit].score ?? 1) < 0.9)
      .map(({ id: audit }) => `${id}: ${lhr.audits[audit].title} ${lhr.audits[audit].displayValue ?? ''}`),
  );

async function scoresOf(browser, address, form) {
  const page = await browser.newPage();
  try {
    await page.evaluateOnNewDocument((key) => sessionStorage.setItem('console.key', key), TEST_KEY);
    const { lhr } = await lighthouse(address, { disableStorageReset: true }, CONFIGS[form], page);
    const scores = Object.values(lhr.categories).map(({ id, score }) => [id, Math.round(score * 100)]);
    return { scores: Object.fromEntries(scores), wrong: wrong(lhr) };
  } finally {
    await page.close();
  }
}

const gateway = await startGateway();
const browser = await puppeteer.launch({
  executablePath: externalTool('chromium'),
  args: ['--no-sandbox'],
});
try {
  for (const view of asked.length > 0 ? asked : VIEWS)
    for (const form of FORMS) {
      const { scores, wrong } = await scoresOf(browser, `${gateway.base}/console#/${view}`, form);
      console.log(view || 'start', form, scores);
      for (const line of wrong) console.log(`  ${line}`);
      const { performance, accessibility, 'best-practices': practices } = scores;
      if (Math.min(performance, accessibility, practices) < ENOUGH) process.exitCode = 1;
    }
} finally {
  await browser.close();
  await gateway.stop();
}
