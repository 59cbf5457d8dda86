/** Arriving request bodies: limits while they stream, back-pressure, clients that are slow or leave, forms. */
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import type { Stack } from '../../../gateway/server/listen.js';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { readAll, readJson } from '../../../gateway/server/bodies/body.js';
import { readMultipart } from '../../../gateway/server/bodies/multipart.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import {
  bodyOf,
  exchange,
  get,
  json,
  post,
  RawClient,
  eachStarted,
  startEdge,
} from '../../fixtures/edge/edge.js';
import { exactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

const MiB = 1024 * 1024;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const posting = (path: string, lines: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;

/** What the cases share, on one of the adapters. */
async function start(t: Test, stack: Stack) {
  const clock = new SimulatedClock();
  const seen = { chunks: 0, bytes: 0, failures: [] as unknown[], aborted: 0 };
  const held = { open: (): void => undefined };
  const server = await startEdge(
    stack,
    [
      post('/size', async (request) => json(200, { bytes: (await readAll(request, 3 * MiB)).length })),
      post('/json', async (request) => json(200, await readJson(request, 1000))),
      post('/ignore', async () => json(401, { no: true })),
      post('/held', async (request) => {
        const gate = new Promise<void>((resolve) => (held.open = resolve));
        let bytes = 0;
        for await (const piece of request.body(200 * MiB)) {
          bytes += piece.length;
          seen.bytes = bytes;
          seen.chunks += 1;
          if (seen.chunks === 1) await gate;
        }
        return json(200, { bytes });
      }),
      post('/watched', async (request) => {
        request.signal.addEventListener('abort', () => (seen.aborted += 1));
        try {
          return json(200, { bytes: (await readAll(request, 200 * MiB)).length });
        } catch (error) {
          seen.failures.push(error);
          throw error;
        } finally {
          seen.chunks += 1;
        }
      }),
      post('/form', async (request) => {
        const form = await readMultipart(request, { bodyBytes: 2 * MiB, fileBytes: MiB });
        const files = [...form.files].map(([name, file]) => [name, file.filename, file.bytes.length]);
        return json(200, { fields: [...form.fields], files });
      }),
      get('/after', async () => json(200, {})),
    ],
    { clock },
  );
  t.teardown(() => server.close());
  const forget = (): void => {
    Object.assign(seen, { chunks: 0, bytes: 0, failures: [], aborted: 0 });
  };

  /** Lets the time pass in which the rest of a refused body is awaited; what is on its way prolongs it. */
  const lingered = (client: RawClient): Promise<unknown> =>
    until('the connection is closed', () => {
      clock.advance(LIMITS.refused.idleMs);
      return client.closed;
    });

  return { stack, clock, seen, held, server, lingered, forget };
}

const onEach = await eachStarted(t, start);

onEach('a body arrives whole, with a length and in chunks', async (t, { server }) => {
  const text = 'x'.repeat(300_000);
  const long = await fetch(`${server.base}/size`, { method: 'POST', body: text });
  t.strictSame(await long.json(), { bytes: 300_000 });
  const raw = posting('/size', 'Transfer-Encoding: chunked\r\n') + chunk('abc') + chunk('de') + '0\r\n\r\n';
  t.match(await exchange(server.port, raw), '{"bytes":5}');
  t.match(
    await exchange(server.port, posting('/size', 'Content-Length: 0\r\nConnection: close\r\n')),
    '{"bytes":0}',
  );
  const streamed = new ReadableStream({
    start(controller) {
      for (let index = 0; index < 8; index += 1) controller.enqueue(Buffer.alloc(65_536));
      controller.close();
    },
  });
  const init = { method: 'POST', body: streamed, duplex: 'half' } as RequestInit;
  t.strictSame(await (await fetch(`${server.base}/size`, init)).json(), { bytes: 8 * 65_536 });
});

onEach(
  'a declared length over the limit is 413 before any of it arrives',
  async (t, { server, lingered }) => {
    const client = new RawClient(server.port).write(posting('/size', `Content-Length: ${4 * MiB}\r\n`));
    await client.sees('{"main":"payload_too_large"');
    t.match(client.text, /^HTTP\/1\.1 413 /);
    await lingered(client);
  },
);

onEach(
  'a chunked body over the limit is 413 while the client still sends',
  async (t, { server, lingered }) => {
    const client = new RawClient(server.port).write(posting('/size', 'Transfer-Encoding: chunked\r\n'));
    for (let sent = 0; sent < 4; sent += 1) client.write(chunk('x'.repeat(MiB)));
    await client.sees('payload_too_large');
    t.match(client.text, /^HTTP\/1\.1 413 /, 'the last chunk was never sent');
    await lingered(client);
  },
);

onEach('fetch sees the 413 of an upload that it has not finished', async (t, { server }) => {
  const response = await fetch(`${server.base}/size`, {
    method: 'POST',
    body: Buffer.alloc(3 * MiB + 1),
  });
  t.equal(response.status, 413);
  await response.text();
});

onEach(
  'a refusal that reads no body reaches a client that is still sending',
  async (t, { server, lingered }) => {
    const response = await fetch(`${server.base}/ignore`, { method: 'POST', body: Buffer.alloc(MiB) });
    t.equal(response.status, 401);
    t.strictSame(await response.json(), { no: true });
    const client = new RawClient(server.port).write(posting('/ignore', 'Content-Length: 50000000\r\n'));
    await client.sees('{"no":true}');
    await lingered(client);
  },
);

onEach('a refusal reaches clients that read only once they have sent all', async (t, { server }) => {
  for (const path of ['/ignore', '/size']) {
    for (const megabytes of [4, 30]) {
      const body = new FormData();
      body.set('file', new Blob([Buffer.alloc(megabytes * MiB)]), 'a.wav');
      const response = await fetch(`${server.base}${path}`, { method: 'POST', body });
      t.equal(response.status, path === '/size' ? 413 : 401, `${megabytes} MiB`);
      await response.json();
    }
  }
});

onEach('a reader that waits holds the client back', async (t, { server, clock, seen, held }) => {
  const total = 64 * MiB;
  const client = new RawClient(server.port).write(posting('/held', `Content-Length: ${total}\r\n`));
  const piece = Buffer.alloc(MiB);
  for (let sent = 0; sent < total; sent += MiB) client.write(piece);
  await until('the reader has begun', () => seen.chunks === 1);
  // The kernel and the stack buffer a few megabytes; the rest stays with the client.
  let before = -1;
  await until('the client is held back', () => {
    const unsent = client.socket.writableLength;
    const still = unsent === before;
    before = unsent;
    return still && unsent > 0;
  });
  t.ok(client.socket.writableLength > 40 * MiB, `${client.socket.writableLength} bytes unsent`);
  t.ok(seen.bytes < MiB);
  clock.advance(120_000);
  held.open();
  await client.sees(`{"bytes":${total}}`);
  client.leave();
});

onEach('a client that leaves during its upload aborts the request', async (t, { server, clock, seen }) => {
  const client = new RawClient(server.port).write(posting('/watched', 'Content-Length: 5000\r\n') + 'abc');
  await until('the body is read', () => server.metrics !== undefined && clock.pending > 0);
  await until('the request is under way', async () =>
    /in_flight 1/.test(await server.metrics.registry.metrics()),
  );
  client.leave();
  await until('the handler has ended', () => seen.chunks === 1);
  t.equal(seen.aborted, 1);
  t.equal(seen.failures.length, 1);
  await until('nothing is under way', async () =>
    /in_flight 0/.test(await server.metrics.registry.metrics()),
  );
  t.strictSame(
    server.lines.filter(({ level }) => level !== 'info'),
    [],
    'a client that leaves is no error of ours',
  );
});

onEach('an upload below 16 KiB a second is cut', async (t, { server, clock, lingered }) => {
  const client = new RawClient(server.port).write(posting('/watched', 'Content-Length: 5000\r\n') + 'abc');
  await until('the request is under way', async () =>
    /in_flight 1/.test(await server.metrics.registry.metrics()),
  );
  clock.advance(7000);
  await client.sees('request_timeout');
  t.match(client.text, /^HTTP\/1\.1 408 /);
  await lingered(client);
});

onEach('a compressed body is 415', async (t, { server }) => {
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
  const body = gzipSync('{}');
  const response = await fetch(`${server.base}/json`, { method: 'POST', headers, body });
  t.equal(response.status, 415);
  t.match(await response.text(), /Compressed bodies are not supported/);
});

onEach('malformed JSON is 400', async (t, { server }) => {
  const response = await fetch(`${server.base}/json`, {
    method: 'POST',
    body: '{',
    headers: { 'content-type': 'application/json' },
  });
  t.equal(response.status, 400);
  exactly(t, await response.json(), { main: 'malformed_body' });
  const form = await fetch(`${server.base}/json`, { method: 'POST', body: new URLSearchParams('a=1') });
  t.equal(form.status, 415);
  await form.text();
});

onEach('forms of fetch, and forms that are broken', async (t, { server }) => {
  const form = new FormData();
  form.set('model', 'm');
  form.set('file', new Blob([Buffer.alloc(500_000)]), 'a.wav');
  form.append('model', 'n');
  const response = await fetch(`${server.base}/form`, { method: 'POST', body: form });
  t.strictSame(await response.json(), {
    fields: [['model', ['m', 'n']]],
    files: [['file', 'a.wav', 500_000]],
  });

  const large = new FormData();
  large.set('file', new Blob([Buffer.alloc(MiB + 1)]), 'a.wav');
  const refused = await fetch(`${server.base}/form`, { method: 'POST', body: large });
  t.equal(refused.status, 413);
  exactly(t, await refused.json(), { main: 'audio_too_large' });

  const type = 'Content-Type: multipart/form-data; boundary=B\r\n';
  const part = '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';
  const framed = posting('/form', `${type}Transfer-Encoding: chunked\r\n`);
  const pieces = [...`${part}--B--\r\n`].map(chunk).join('');
  t.match(await exchange(server.port, `${framed}${pieces}0\r\n\r\n`), '{"fields":[["a",["1"]]],"files":[]}');
  t.match(await exchange(server.port, `${framed}${chunk(part)}0\r\n\r\n`), 'malformed_body');
});

onEach('a connection serves on after a body that was read', async (t, { server }) => {
  const client = new RawClient(server.port);
  client.write(`${posting('/size', 'Content-Length: 3\r\n')}abc`);
  await client.sees('{"bytes":3}');
  client.text = '';
  client.write('GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await client.gone();
  t.equal(bodyOf(client.text), '{}');
});

onEach('limits are those of the contract', async (t) => {
  t.equal(LIMITS.http.uploadBytesPerSecond, 16 * 1024);
});
