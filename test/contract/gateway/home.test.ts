/** `/`: browsers are redirected to the console, other clients get a description. Headers of the console's files. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { stacks, startEdge } from '../../fixtures/edge/edge.js';

const PACKAGE = new URL('package.json', CHECKOUT);
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

  t.test(`a page's address with a slash behind it leads to the page, ${stack}`, async (t) => {
    const server = await startEdge(stack, []);
    t.teardown(() => server.close());
    for (const page of ['console', 'docs']) {
      const led = await fetch(`${server.base}/${page}/`);
      t.same([led.status, led.url], [200, `${server.base}/${page}`]);
    }
  });

  t.test(`the console's files, ${stack}`, async (t) => {
    const server = await startEdge(stack, []);
    t.teardown(() => server.close());
    const read = async (path: string, encoding = 'gzip') => {
      const response = await fetch(`${server.base}/${path}`, { headers: { 'accept-encoding': encoding } });
      t.equal(response.status, 200, path);
      return { headers: response.headers, text: await response.text() };
    };
    const page = await read('console');
    const policy = page.headers.get('content-security-policy') ?? '';
    t.match(policy, /^default-src 'none'/);
    t.notMatch(policy, /unsafe|\*/);
    t.notMatch(
      page.text,
      /<style|style=|<script>|\son\w+=/,
      'the page itself holds neither scripts nor styles',
    );
    t.equal(page.headers.get('cache-control'), 'no-cache');

    const first = [...page.text.matchAll(/(?:href|src)="(console\/[^"]+)"/g)].map(([, path]) => path ?? '');
    t.equal(first.length, 2, 'a script and its styles');
    let weight = page.text.length;
    for (const path of first) {
      const file = await read(path);
      weight += gzipSync(file.text).length;
      t.match(path, /-[A-Z0-9]{8}\.(js|css)$/, 'its name holds a hash of what is in it');
      t.match(file.headers.get('cache-control'), /immutable/);
      t.equal(file.headers.get('content-encoding'), 'gzip');
      for (const none of ['identity', 'gzip;q=0', 'gzip; q=0.0, identity']) {
        const plain = await read(path, none);
        t.equal(plain.headers.get('content-encoding'), null, none);
        t.equal(plain.text, file.text);
      }
    }
    t.ok(weight < 150_000, `what the first view loads is small: ${weight} bytes compressed`);
    t.equal((await fetch(`${server.base}/console/other.js`)).status, 404);
  });
}
