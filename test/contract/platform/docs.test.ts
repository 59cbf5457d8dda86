/** The page at /docs loads only from our own server, and shows in a browser what /openapi.json describes; the widget is for pages anywhere. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Type from 'typebox';
import t from '../../fixtures/tap.js';
import type { Route } from '../../../gateway/server/port.js';
import { json, startEdge, stacks } from '../../fixtures/edge/edge.js';
import { externalTool, skipReason } from '../../fixtures/external.js';

const described: Route = {
  method: 'POST',
  path: '/v1/things/{thing_id}',
  permission: 'manage',
  handler: async () => json(200, {}),
  description: {
    summary: 'Turn a thing over',
    requestBody: { 'application/json': Type.Object({ twice: Type.Boolean() }) },
    responses: { 200: { description: 'Turned' } },
  },
};

for (const stack of stacks((line) => t.comment(line))) {
  t.test(`${stack}: the page and all it loads come from here`, async (t) => {
    const edge = await startEdge(stack, [described]);
    t.teardown(() => edge.close());
    const page = await fetch(`${edge.base}/docs`);
    t.equal(page.status, 200);
    t.match(page.headers.get('content-type'), /^text\/html/);
    const policy = page.headers.get('content-security-policy') ?? '';
    t.match(policy, /default-src 'none'/);
    t.match(policy, /script-src 'self'(;|$)/, 'no inline scripts');
    t.match(policy, /connect-src 'self'(;|$)/);
    const html = await page.text();
    t.notMatch(html, /https?:\/\//, 'no other server is named');
    t.notMatch(html, /<script>|\son\w+=/, 'nothing inline');
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
    t.equal(links.length, 4);
    for (const link of links) {
      const file = await fetch(new URL(link, `${edge.base}/docs`));
      t.equal(file.status, 200, link);
      t.match(file.headers.get('content-type'), /javascript|css|png/);
      t.equal(file.headers.get('x-content-type-options'), 'nosniff');
      t.ok((await file.arrayBuffer()).byteLength > 100);
    }
    t.equal((await fetch(`${edge.base}/docs/package.json`)).status, 404, 'nothing else of the package');
    t.equal((await fetch(`${edge.base}/docs/..%2fpackage.json`)).status, 404);
  });

  t.test(`${stack}: pages of other origins load the widget`, async (t) => {
    const edge = await startEdge(stack, []);
    t.teardown(() => edge.close());
    for (const name of ['widget.js', 'widget-call.js']) {
      const load = (encoding: string) =>
        fetch(`${edge.base}/${name}`, {
          headers: { origin: 'https://shop.example.com', 'accept-encoding': encoding },
        });
      const script = await load('gzip');
      t.equal(script.status, 200, name);
      t.match(script.headers.get('content-type'), /^text\/javascript/);
      t.equal(script.headers.get('access-control-allow-origin'), '*');
      t.equal(script.headers.get('cross-origin-resource-policy'), 'cross-origin');
      t.equal(script.headers.get('content-encoding'), 'gzip');
      t.equal(await script.text(), await (await load('identity')).text());
    }
  });
}

const COMPLAINT = /refused|violat|blocked|failed|error/i;

/** The page's DOM in a browser after a while, and the browser's complaints. */
async function open(url: string): Promise<{ dom: string; complaints: string[] }> {
  const profile = await mkdtemp(join(tmpdir(), 'docs-'));
  const flags = [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', `--user-data-dir=${profile}`,
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', '--enable-logging=stderr', '--virtual-time-budget=20000', '--dump-dom', url,
  ]; // oxfmt-ignore
  const browser = spawn(externalTool('chromium') ?? '', flags, { stdio: ['ignore', 'pipe', 'pipe'] });
  let dom = '';
  let said = '';
  browser.stdout.setEncoding('utf8').on('data', (chunk: string) => (dom += chunk));
  browser.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await once(browser, 'close');
  await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  return {
    dom,
    complaints: said.split('\n').filter((line) => line.includes('CONSOLE') && COMPLAINT.test(line)),
  };
}

t.test('a browser shows the operations, without a complaint', { skip: skipReason('chromium') }, async (t) => {
  const edge = await startEdge('node', [described]);
  t.teardown(() => edge.close());
  const { dom, complaints } = await open(`${edge.base}/docs#/main/turnThingOver`);
  t.ok(dom.includes('Turn a thing over'));
  t.ok(dom.includes('opblock-post is-open'), 'the linked operation is open');
  t.ok(dom.includes('application/json'));
  t.same(complaints, []);
});
