/**
 * Measures the first load of the console's views (measures.mjs):
 *
 *   node test/acceptance/console-measures.mjs [SLOWER]     the processor SLOWER times slower than it is (4)
 *
 * Fails where one is above its bound. Contrast and names are axe's, in browser-console.test.mjs.
 */
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { startBrowser } from './browser.mjs';
import { BOUNDS, MEASURED, measure } from './measures.mjs';

const slower = Number(process.argv[2] ?? 4);
const gateway = await startGateway();
const browser = await startBrowser(gateway);
try {
  for (const view of MEASURED) {
    const { page } = await browser.open(`${gateway.base}/console`, 'Sign in · Speech gateway');
    const measured = await measure(page, { base: gateway.base, key: TEST_KEY }, { view, slower, use: true });
    console.log(view || 'start');
    console.table(measured);
    const broken = Object.keys(BOUNDS).filter((name) => measured[name] > BOUNDS[name]);
    for (const name of broken) console.error(`${name}: more than ${BOUNDS[name]}`);
    if (broken.length > 0) process.exitCode = 1;
    await page.context().close();
  }
} finally {
  await browser.stop();
  await gateway.stop();
}
