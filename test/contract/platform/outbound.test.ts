/** Outbound requests to real servers on this machine: name look-ups, redirects, limits (docs/contract/platform.md 6.5). */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { systemClock } from '../../../contracts/clock.js';
import type { OutboundFailure, OutboundReply, OutboundRequest } from '../../../contracts/ports/outbound.js';
import { createOutbound } from '../../../gateway/outbound/fetch.js';
import { type Lookup, resolveHost } from '../../../gateway/outbound/lookup.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function serve(t: Pick<Test, 'teardown'>, answer: (seen: Seen, response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      seen.push(one);
      answer(one, response);
    });
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

const request = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url,
  headers: [],
  timeoutMs: 30_000,
  captureBytes: 1000,
  ...more,
});

const failsAs = async (t: Test, work: Promise<unknown>, failure: OutboundFailure, what = 'it fails') =>
  exactly(t, await work.then(() => 'it succeeded', (error: unknown) => error), { name: 'OutboundError', failure }, what); // oxfmt-ignore

const text = ({ body }: OutboundReply): string => Buffer.from(body).toString();

/** A look-up that answers each question with the next entry of a list, and repeats the last. */
const names = (...answers: string[][]): Lookup & { asked: string[] } => {
  const asked: string[] = [];
  const lookup: Lookup = async (host) => {
    asked.push(host);
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
  };
  return Object.assign(lookup, { asked });
};

const open = (port: number, lookup?: Lookup) =>
  createOutbound({ allow: [`127.0.0.1:${port}`], clock: systemClock, ...(lookup && { lookup }) });

t.test('a request goes out as stored and comes back whole', async (t) => {
  const { port, seen } = await serve(t, (_, response) =>
    response.writeHead(418, { 'x-a': ['1', '2'], 'content-type': 'text/plain' }).end('héllo'),
  );
  const reply = await open(port).fetch(
    request(`http://127.0.0.1:${port}/p%20q?x=1#y`, {
      method: 'POST',
      headers: [
        ['Authorization', 'Bearer abc'],
        ['X-Twice', 'a'],
        ['X-Twice', 'b'],
        ['Content-Type', 'application/json'],
      ],
      body: '{"ü":1}',
    }),
  );
  t.equal(reply.status, 418);
  exactly(t, reply.headers, { 'x-a': '1, 2', 'content-type': 'text/plain' });
  t.equal(text(reply), 'héllo');
  t.equal(reply.truncated, false);
  t.ok(Number.isInteger(reply.latencyMs) && reply.latencyMs >= 0);
  exactly(t, seen, [
    {
      method: 'POST',
      path: '/p%20q?x=1',
      body: '{"ü":1}',
      headers: { authorization: 'Bearer abc', 'x-twice': 'a, b', 'content-length': '8' },
    },
  ]);
});

t.test('a name is judged by every address that it has', async (t) => {
  const { port, seen } = await serve(t, (_, response) => response.end('in'));
  const url = `http://hook.example.com:${port}/`;
  for (const addresses of [
    ['127.0.0.2'], ['10.0.0.1'], ['169.254.169.254'], ['::1'], ['::ffff:127.0.0.2'], ['64:ff9b::7f00:2'], ['0.0.0.0'],
    ['93.184.216.34', '10.0.0.1'], ['127.0.0.1', '192.168.0.1'], ['fe80::1%eth0'], ['nonsense'],
  ]) {
    await failsAs(t, open(port, names(addresses)).fetch(request(url)), 'refused', addresses.join());
  } // oxfmt-ignore
  t.same(seen, []);
  t.equal(text(await open(port, names(['127.0.0.1'])).fetch(request(url))), 'in');
  t.equal(seen[0]?.headers.host, `hook.example.com:${port}`);
});

t.test('a name that answers differently the second time is not asked again', async (t) => {
  const { port, seen } = await serve(t, (_, response) => response.end('first'));
  const lookup = names(['127.0.0.1'], ['127.0.0.2']);
  t.equal(text(await open(port, lookup).fetch(request(`http://rebind.example.com:${port}/`))), 'first');
  t.same(lookup.asked, ['rebind.example.com'], 'one look-up for check and connection');
  await failsAs(t, open(port, lookup).fetch(request(`http://rebind.example.com:${port}/`)), 'refused');
  t.equal(seen.length, 1);
});

t.test('a host that the operator named may be anywhere but at a metadata service (decision 8)', async (t) => {
  const { port } = await serve(t, (_, response) => response.end('lan'));
  const named = (...addresses: string[]) =>
    createOutbound({ allow: [`crm.lan:${port}`], clock: systemClock, lookup: names(addresses) });
  t.equal(text(await named('127.0.0.1').fetch(request(`http://crm.lan:${port}/`))), 'lan');
  await failsAs(t, named('169.254.169.254').fetch(request(`http://crm.lan:${port}/`)), 'refused');
});

t.test('every redirect is judged like a first address', async (t) => {
  const inner = await serve(t, (_, response) => response.end('secret'));
  let location = '';
  const outer = await serve(t, (_, response) => response.writeHead(302, { location }).end());
  const start = request(`http://127.0.0.1:${outer.port}/`);
  for (location of [
    `http://127.0.0.1:${inner.port}/`, `http://localhost:${inner.port}/`, 'http://169.254.169.254/', 'file:///etc/passwd', 'http://[::1]/',
    'http://user:pw@example.com/', `//127.0.0.1:${inner.port}/`, 'http://2852039166/', 'gopher://x.example/', 'http://[', 'http://metadata/',
  ]) await failsAs(t, open(outer.port).fetch(start), 'refused', location); // oxfmt-ignore
  t.same(inner.seen, []);
});

t.test('a redirect to a name that resolves inside is refused', async (t) => {
  const { port, seen } = await serve(t, (_, response) =>
    response.writeHead(307, { location: `http://second.example.com:${port}/` }).end(),
  );
  const lookup: Lookup = async (host) => [host === 'first.example.com' ? '127.0.0.1' : '127.0.0.2'];
  await failsAs(t, open(port, lookup).fetch(request(`http://first.example.com:${port}/`)), 'refused');
  t.equal(seen.length, 1);
});

t.test('three redirects are followed, a fourth is not', async (t) => {
  const { port } = await serve(t, ({ path }, response) => {
    const left = Number(path.slice(1));
    if (left === 0) response.end('there');
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  t.equal(text(await open(port).fetch(request(`http://127.0.0.1:${port}/3`))), 'there');
  await failsAs(t, open(port).fetch(request(`http://127.0.0.1:${port}/4`)), 'too_many_redirects');
  const raw = await open(port).fetch(request(`http://127.0.0.1:${port}/1`, { redirects: 0 }));
  t.equal(raw.status, 302, 'none where none are wanted');
});

t.test('a redirect keeps the method if HTTP says so, and headers only at their origin', async (t) => {
  const other = await serve(t, (_, response) => response.end('other'));
  const { port, seen } = await serve(t, ({ path }, response) => {
    const [, status = '', where = ''] = /^\/(\d+)-(\w+)/.exec(path) ?? [];
    const base = where === 'other' ? `http://127.0.0.1:${other.port}` : '';
    if (status === '') response.end('same');
    else response.writeHead(Number(status), { location: `${base}/end` }).end();
  });
  const both = createOutbound({ allow: ['127.0.0.1'], clock: systemClock });
  const go = async (path: string) =>
    both.fetch(
      request(`http://127.0.0.1:${port}/${path}`, {
        method: 'POST',
        headers: [['X-Key', 'k'], ['Content-Type', 'text/plain']],
        body: 'b',
      }),
    ); // oxfmt-ignore
  await go('307-same');
  exactly(t, seen.at(-1), {
    method: 'POST',
    body: 'b',
    headers: { 'x-key': 'k', 'content-type': 'text/plain' },
  });
  await go('303-same');
  exactly(t, seen.at(-1), { method: 'GET', body: '', headers: { 'x-key': 'k', 'content-type': undefined } });
  await go('308-other');
  exactly(t, other.seen.at(-1), { method: 'POST', body: 'b', headers: { 'content-type': 'text/plain' } });
  t.notOk(other.seen.at(-1)?.headers['x-key']);
  await go('301-other');
  exactly(t, other.seen.at(-1), { method: 'GET', body: '' });
  t.notOk(other.seen.at(-1)?.headers['x-key']);
});

t.test('the captured part of a body is bounded to the byte, and marked', async (t) => {
  const { port } = await serve(t, ({ path }, response) => response.end('x'.repeat(Number(path.slice(1)))));
  const sizes: [sent: number, kept: number, truncated: boolean][] = [
    [0, 0, false], [65_535, 65_535, false], [65_536, 65_536, false], [65_537, 65_536, true], [9_000_000, 65_536, true],
  ]; // oxfmt-ignore
  for (const [sent, kept, truncated] of sizes) {
    const reply = await open(port).fetch(
      request(`http://127.0.0.1:${port}/${sent}`, { captureBytes: 65_536 }),
    );
    t.same([reply.body.length, reply.truncated], [kept, truncated], `${sent} bytes`);
  }
});

t.test('a body that comes compressed unasked is read as what it says, within the same bounds', async (t) => {
  const bodies: Readonly<Record<string, readonly [encoding: string, sent: Buffer]>> = {
    gzip: ['gzip', gzipSync('plain')],
    'x-gzip': ['X-GZip', gzipSync('plain')],
    deflate: ['deflate', deflateSync('plain')],
    br: ['br', brotliCompressSync('plain')],
    nothing: ['gzip', Buffer.alloc(0)],
    unknown: ['zstd', Buffer.from('plain')],
    bomb: ['gzip', gzipSync(Buffer.alloc(100_000_000, 'x'))],
    broken: ['gzip', Buffer.from('no gzip at all')],
  };
  const { port, seen } = await serve(t, ({ path }, response) => {
    const [encoding = '', sent] = bodies[path.slice(1)] ?? [];
    response.writeHead(200, { 'content-encoding': encoding }).end(sent);
  });
  const fetched = (name: string) => open(port).fetch(request(`http://127.0.0.1:${port}/${name}`));
  for (const name of ['gzip', 'x-gzip', 'deflate', 'br', 'unknown'])
    t.equal(text(await fetched(name)), 'plain', name);
  t.equal(seen[0]?.headers['accept-encoding'], 'identity', 'it was not asked for');
  t.equal(text(await fetched('nothing')), '');
  const bomb = await fetched('bomb');
  t.same([bomb.body.length, bomb.truncated], [1000, true]);
  await failsAs(t, fetched('broken'), 'unreachable');
});

t.test(
  'where only the status counts, a body that never comes or cannot be read is not waited for',
  async (t) => {
    const { port } = await serve(t, ({ path }, response) => {
      response.writeHead(path === '/302' ? 302 : 202, { location: '/silent', 'content-encoding': 'gzip' });
      if (path === '/broken') response.end('no gzip at all');
      else response.flushHeaders();
    });
    const status = async (path: string): Promise<number> => {
      const url = `http://127.0.0.1:${port}${path}`;
      return (await open(port).fetch(request(url, { captureBytes: 0, timeoutMs: 5000 }))).status;
    };
    t.same([await status('/silent'), await status('/broken'), await status('/302')], [202, 202, 202]);
  },
);

t.test('an endless body is left once enough is known', async (t) => {
  let closed = false;
  const { port } = await serve(t, (_, response) => {
    const timer = setInterval(() => response.write('y'.repeat(10_000)), 1);
    response.on('close', () => {
      clearInterval(timer);
      closed = true;
    });
  });
  const reply = await open(port).fetch(request(`http://127.0.0.1:${port}/`));
  t.same([reply.body.length, reply.truncated], [1000, true]);
  await until('the server has lost its reader', () => closed);
});

t.test('one deadline holds for a silent server, a slow body, a redirect and a look-up', async (t) => {
  const { port } = await serve(t, ({ path }, response) => {
    if (path === '/slow') response.write('x');
    if (path === '/hop') response.writeHead(302, { location: '/silent' }).end();
  });
  const never: Lookup = () => new Promise(() => undefined);
  for (const path of ['silent', 'slow', 'hop']) {
    const late = open(port).fetch(request(`http://127.0.0.1:${port}/${path}`, { timeoutMs: 300 }));
    await rejectsExactly(t, late, { name: 'OutboundError', message: 'No response within 0.3 s' }, path);
  }
  const lost = open(port, never).fetch(request(`http://slow.example.com:${port}/`, { timeoutMs: 300 }));
  await failsAs(t, lost, 'timeout');
});

t.test('a caller that leaves ends the request', async (t) => {
  let closed = false;
  const { port, seen } = await serve(t, (_, response) => response.on('close', () => (closed = true)));
  const leaving = new AbortController();
  const fetching = open(port).fetch(request(`http://127.0.0.1:${port}/`, { signal: leaving.signal }));
  fetching.catch(() => undefined);
  await until('the server has it', () => seen.length === 1);
  leaving.abort(new Error('gone'));
  await rejectsExactly(t, fetching, { message: 'gone' });
  await until('the connection is closed', () => closed);
  await rejectsExactly(
    t,
    open(port).fetch(request(`http://127.0.0.1:${port}/`, { signal: leaving.signal })),
    {
      message: 'gone',
    },
  );
});

t.test('a failed request says how it failed', async (t) => {
  const { port } = await serve(t, (_, response) => response.destroy());
  const closed = await serve(t, () => undefined);
  const free = createOutbound({ allow: ['127.0.0.1:1'], clock: systemClock });
  await rejectsExactly(t, free.fetch(request('http://127.0.0.1:1/')), {
    name: 'OutboundError',
    message: /ECONNREFUSED/,
  });
  await failsAs(t, open(port).fetch(request(`http://127.0.0.1:${port}/`)), 'unreachable');
  const unknown: Lookup = async () => Promise.reject(new Error('ENOTFOUND'));
  const lost = open(port, unknown).fetch(request('http://nowhere.example.com/'));
  await rejectsExactly(t, lost, {
    name: 'OutboundError',
    message: 'The host nowhere.example.com does not resolve',
  });
  const url = `http://127.0.0.1:${closed.port}/`;
  for (const header of [['Host', 'x'], ['content-length', '3'], ['Connection', 'x'], ['TE', 'x'], ['X-A', 'a\r\nb'], ['a b', 'c']] as const) {
    await failsAs(t, open(closed.port).fetch(request(url, { headers: [header] })), 'refused', header[0]);
  } // oxfmt-ignore
  t.same(closed.seen, []);
});

t.test('an untrusted certificate is no connection', async (t) => {
  const file = (name: string) => readFileSync(new URL(`test/fixtures/${name}`, CHECKOUT));
  const server = createTlsServer({ key: file('edge-key.pem'), cert: file('edge-cert.pem') }, (_, response) =>
    response.end('secret'),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  await failsAs(t, open(port).fetch(request(`https://127.0.0.1:${port}/`)), 'unreachable');
  await failsAs(
    t,
    open(port, names(['127.0.0.1'])).fetch(request(`https://hook.example.com:${port}/`)),
    'unreachable',
  );
});

t.test('names: those of the operator by the system, others by its name servers', async (t) => {
  const forever = new AbortController().signal;
  const found = await resolveHost('localhost', true, forever);
  t.ok(found.some((address) => ['127.0.0.1', '::1'].includes(address)));
  const leaving = new AbortController();
  const asking = resolveHost('nobody.invalid', false, leaving.signal);
  asking.catch(() => undefined);
  leaving.abort();
  const wanted = { message: 'nobody.invalid does not resolve', cause: { code: 'ECANCELLED' } };
  await rejectsExactly(t, asking, wanted, 'the query was cancelled');
});
