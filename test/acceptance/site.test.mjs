/**
 * The documentation site as VitePress builds it, beside an older version, in headless Chromium: the menu of versions leads to the same page
 * of the other version, or to its start, and diagrams are drawn when they are seen. Its packages are many, so this is a long form; the
 * short one, without VitePress, is test/unit/ops/site/site.test.ts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../dist/test/fixtures/tap.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { folderOf } from '../../dist/test/fixtures/folders.js';
import { shortOrLong } from '../../dist/test/fixtures/long.js';
import { serveFolder } from './static-site.mjs';

t.setTimeout(1_800_000);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const skip =
  shortOrLong('npm run test:long builds it, which takes a minute', false) || skipReason('chromium');

async function build(folder) {
  const args = ['ops/setup/site.mjs', '--base=/docs/', `--versions=${folder}`];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(said);
}

/** An older version with two pages, and the one of this checkout, below /docs/. */
async function serveVersions(t) {
  const folder = folderOf(t);
  await mkdir(join(folder, '0.0'));
  for (const name of ['index.html', 'sip.html'])
    await writeFile(join(folder, '0.0', name), '<!doctype html><title>Old</title>');
  await build(folder);
  const [name, ...others] = JSON.parse(await readFile(join(folder, 'versions.json'), 'utf8'));
  t.strictSame(others, ['0.0']);
  const { base, stop } = await serveFolder(folder, '/docs/');
  t.teardown(stop);
  return `${base}${name}/`;
}

async function titleOf(file) {
  const [, heading] = /^# +(.+?) *$/m.exec(await readFile(join(ROOT, file), 'utf8'));
  return `${heading} — Speech gateway`;
}

t.test('versions of the site, in a browser', { skip }, async (t) => {
  const { startBrowser } = await import('./browser.mjs');
  const base = await serveVersions(t);
  const browser = await startBrowser();
  t.teardown(() => browser.stop());
  const open = async (place) => browser.open(`${base}${place}.html`, await titleOf(`docs/${place}.md`));

  await t.test('a page leads to the same page of another version, or to its start', async (t) => {
    for (const [place, address] of [
      ['voice-agents', '/docs/0.0/'],
      ['sip', '/docs/0.0/sip.html'],
    ]) {
      const { page, complaints } = await open(place);
      const menu = page.locator('.VPNavBarMenu .versions');
      await menu.locator('summary').click();
      const link = menu.locator('a', { hasText: '0.0' });
      await link.waitFor();
      t.equal(await link.getAttribute('href'), address);
      await link.click();
      await page.waitForFunction(() => document.title === 'Old');
      t.strictSame(complaints, []);
    }
  });

  await t.test('a diagram is drawn when somebody is about to see it', async (t) => {
    const { page, complaints } = await open('statecharts');
    const last = page.locator('.diagram').last();
    t.equal(await last.locator('svg').count(), 0);
    await last.scrollIntoViewIfNeeded();
    await page.waitForFunction(() => [...document.querySelectorAll('.diagram')].at(-1).querySelector('svg'));
    t.strictSame(complaints, []);
  });

  await t.test('a large diagram is drawn when its button is pressed', async (t) => {
    const { page, complaints } = await open('statecharts');
    const button = page.getByRole('button', { name: 'Draw this diagram' }).first();
    await button.click();
    await page.waitForFunction(() => document.querySelector('.diagram').querySelector('svg'));
    t.equal(await page.locator('pre.diagram').count(), (await page.locator('.diagram').count()) - 1);
    t.strictSame(complaints, []);
  });
});
