/**
 * Lighthouse's own scores of the documentation site, as `npm run site` has built it, on a phone.
 *
 *   npm install --prefix FOLDER lighthouse
 *   node test/acceptance/site-lighthouse.mjs FOLDER [PAGE …]     such as statecharts.html
 *
 * Fails where the median of five runs is below what is promised.
 */
import { fileURLToPath } from 'node:url';
import { startLighthouse } from './lighthouse.mjs';
import { serveFolder } from './static-site.mjs';

const SITE = fileURLToPath(new URL('../../.build-site/site/', import.meta.url));
/** The start, and the longest pages. */
const PAGES = ['', 'contract/limits.html', 'statecharts.html', 'load-tests.html', 'contract/platform.html'];
const [folder, ...asked] = process.argv.slice(2);
const lighthouse = await startLighthouse(folder);
const site = await serveFolder(SITE);
try {
  for (const page of asked.length > 0 ? asked : PAGES) {
    const { scores, wrong, kept } = await lighthouse.medians(`${site.base}${page}`, 'mobile');
    console.log(page || 'start', scores);
    for (const line of wrong) console.log(`  ${line}`);
    if (!kept) process.exitCode = 1;
  }
} finally {
  await lighthouse.stop();
  site.stop();
}
