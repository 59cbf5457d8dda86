/** `/`: browsers are led to the console, everything else reads what this is. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { stacks, startEdge } from '../fixtures/edge.js';

const PACKAGE = new URL('../../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

for (const stack of stacks((line) => t.comment(line))) {
  t.test(stack, async (t) => {
    const server = await startEdge(stack, []);
    t.teardown(() => server.close());
    const home = (accept: string, method = 'GET') =>
      fetch(`${server.base}/`, { method, headers: { accept }, redirect: 'manual' });

    const led = await home(BROWSER);
    t.equal(led.status, 302);
    const page = new URL(led.headers.get('location') ?? '', `${server.base}/`);
    t.equal(page.href, `${server.base}/console`);
    t.match((await fetch(page)).headers.get('content-type'), /^text\/html/);

    for (const accept of ['*/*', 'application/json', '']) {
      const told = await home(accept);
      t.equal(told.status, 200);
      t.equal(told.headers.get('vary'), 'Accept');
      t.strictSame(await told.json(), { name: 'Speech gateway', version, docs: `${server.base}/docs` });
    }
    t.equal((await home('*/*', 'HEAD')).status, 200);
    t.equal((await home('*/*', 'POST')).status, 405);
  });
}
