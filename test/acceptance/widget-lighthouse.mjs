/**
 * Lighthouse's own scores of the example's page with the widget (lighthouse.mjs): the median of five.
 *
 *   node test/acceptance/widget-lighthouse.mjs FOLDER
 *
 * Fails where accessibility or best practices are below 95, or performance is below 90, on a desktop or a phone.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';
import { startLighthouse } from './lighthouse.mjs';

const EXAMPLE = fileURLToPath(new URL('../../examples/widget/server.mjs', import.meta.url));

/** The example, as a user starts it: its address. */
async function serveExample(gateway) {
  const env = { ...process.env, GATEWAY: gateway.base, KEY: TEST_KEY, PORT: '0' };
  const child = spawn(process.execPath, [EXAMPLE], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  const address = await until('the page is served', () => /http:\S+/.exec(printed)?.[0]);
  return { address, stop: () => child.kill() };
}

const lighthouse = await startLighthouse(process.argv[2]);
const gateway = await startGateway();
const example = await serveExample(gateway);
try {
  for (const form of ['desktop', 'mobile']) {
    const { scores, wrong, kept } = await lighthouse.medians(example.address, form);
    console.log(form, scores);
    for (const line of wrong) console.log(`  ${line}`);
    if (!kept) process.exitCode = 1;
  }
} finally {
  example.stop();
  await lighthouse.stop();
  await gateway.stop();
}
