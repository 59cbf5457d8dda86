/**
 * Fetching models of the catalogue: from a server that breaks off, changes the file or lies, twice at once, and by a
 * process that is ended in the middle.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t from '../../fixtures/tap.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import {
  add,
  commandFile,
  entryOf,
  freshModels,
  half,
  kept,
  models,
  placed,
  serve,
  start,
  whole,
} from '../../fixtures/models/catalogue.js';
import { TLS } from '../../fixtures/edge/requests.js';
import { until } from '../../fixtures/until.js';

t.setTimeout(240_000);

const WEIGHTS = Buffer.alloc(300_000, 'weights');
const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const BYTES = WEIGHTS.length;

t.test('an interrupted download is resumed', async (t) => {
  const folder = freshModels(t);
  const { base, requests } = await serve(t, { 'model.onnx': WEIGHTS }, (count) =>
    count === 1 ? half : whole,
  );
  await add(entryOf([{ url: `${base}/model.onnx`, bytes: BYTES, sha256: sha256(WEIGHTS) }]));
  exactly(t, requests, [{ range: undefined }, { range: /^bytes=\d+-$/, ifRange: /^"/ }]);
  t.same(fs.readFileSync(path.join(folder, 'catalogue/tried/model.onnx')), WEIGHTS);
  t.strictSame(kept(folder), [], 'what was fetched goes when the model is in place');
});

t.test('the part of an interrupted download is kept for the next command', async (t) => {
  const folder = freshModels(t);
  let mended = false;
  const { base, requests } = await serve(t, { 'model.onnx': WEIGHTS }, () => {
    if (mended) return whole;
    return requests.length === 1 ? half : (_request, response) => response.destroy();
  });
  const entry = entryOf([{ url: `${base}/model.onnx`, bytes: BYTES, sha256: sha256(WEIGHTS) }]);
  await rejectsExactly(t, add(entry), { name: 'SetupError', message: /tried 4 times/ });
  t.strictSame(placed(folder), [], 'no model, no temporary folder');
  mended = true;
  await add(entry);
  exactly(t, requests.at(-1), { range: /^bytes=\d+-$/ });
  t.same(fs.readFileSync(path.join(folder, 'catalogue/tried/model.onnx')), WEIGHTS);
});

t.test(
  'a proxy that inspects TLS: the authority is asked for at once, and nothing is tried again',
  async (t) => {
    freshModels(t);
    const tls = { cert: fs.readFileSync(TLS.certFile), key: fs.readFileSync(TLS.keyFile) };
    let connections = 0;
    const server = https.createServer(tls).on('connection', () => connections++);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/model.onnx`;
    const message = /set NODE_EXTRA_CA_CERTS in the environment/;
    await rejectsExactly(t, add(entryOf([{ url, bytes: BYTES }])), { name: 'SetupError', message });
    t.equal(connections, 1);
  },
);

t.test('a file that has changed since is fetched from the start', async (t) => {
  freshModels(t);
  const files = { 'model.onnx': WEIGHTS };
  const { base, requests } = await serve(t, files, (count) => (count === 1 ? half : whole));
  const changed = Buffer.alloc(300_001, 'others');
  const entry = entryOf([{ url: `${base}/model.onnx`, bytes: BYTES, sha256: sha256(changed) }]);
  const adding = add(entry);
  await until('the first request came', () => requests.length > 0);
  files['model.onnx'] = changed;
  await adding;
  exactly(t, requests[1], { range: /^bytes=/ });
});

t.test('another digest than the catalogue’s leaves nothing behind', async (t) => {
  const folder = freshModels(t);
  const { base } = await serve(t, { 'model.onnx': WEIGHTS });
  const wanted = sha256(Buffer.from('other'));
  const entry = entryOf([{ url: `${base}/model.onnx`, bytes: BYTES, sha256: wanted }]);
  const message = new RegExp(`expected ${wanted}\\n.*found    ${sha256(WEIGHTS)}`);
  await rejectsExactly(t, add(entry), { name: 'SetupError', message });
  t.strictSame([placed(folder), kept(folder)], [[], []]);
  await add(entry, { unchecked: true });
  t.strictSame(placed(folder), ['tried'], 'but who says so gets it');
});

t.test('a file that is larger than its entry says is stopped', async (t) => {
  const folder = freshModels(t);
  let sent = 0;
  const endless = await serve(t, { 'model.onnx': WEIGHTS }, () => (_request, response) => {
    const more = (): void => {
      sent += 1;
      if (!response.destroyed) response.write(WEIGHTS, () => setImmediate(more));
    };
    more();
  });
  const told = await serve(t, { 'model.onnx': Buffer.alloc(3_000_000) });
  for (const { base } of [endless, told]) {
    const entry = entryOf([{ url: `${base}/model.onnx`, bytes: BYTES }]);
    await rejectsExactly(t, add(entry), { name: 'SetupError', message: /larger than the 1375000 bytes/ });
    t.strictSame([placed(folder), kept(folder)], [[], []]);
  }
  t.ok(sent > 1, 'one of them told no length');
});

t.test('the first download pins an unknown digest; another digest later is refused', async (t) => {
  const folder = freshModels(t);
  const files = { 'model.onnx': WEIGHTS };
  const { base } = await serve(t, files);
  const url = `${base}/model.onnx`;
  const entry = entryOf([{ url, bytes: BYTES }]);
  t.strictSame(await add(entry), [url]);
  fs.rmSync(path.join(folder, 'catalogue/tried'), { recursive: true });
  t.strictSame(await add(entry), [], 'known by now');
  fs.rmSync(path.join(folder, 'catalogue/tried'), { recursive: true });
  files['model.onnx'] = Buffer.from('something else');
  await rejectsExactly(t, add(entry), { message: /is not what the first fetch says/ });
  t.strictSame(placed(folder), []);
  t.strictSame(await add(entry, { unchecked: true }), [url], 'pinned anew');
});

t.test('a full disk is seen before anything is fetched', async (t) => {
  const folder = freshModels(t);
  const { base, requests } = await serve(t, { 'model.onnx': WEIGHTS });
  const system = { stat: () => ({ dev: 1 }), statfs: () => ({ bavail: 100, bsize: 4096, blocks: 1000 }) };
  const entry = entryOf([{ url: `${base}/model.onnx`, bytes: BYTES }]);
  await rejectsExactly(t, add(entry, { system }), {
    name: 'SetupError',
    message: /0 MB free; set-up needs about 2 MB/,
  });
  t.strictSame([requests, placed(folder)], [[], []]);
});

t.test('a failing source is followed by the next; if all fail, each is reported', async (t) => {
  const folder = freshModels(t);
  const { base } = await serve(t, { 'model.onnx': WEIGHTS });
  const said: string[] = [];
  const missing = { items: [{ url: `${base}/gone.onnx`, bytes: BYTES }] };
  const there = { items: [{ url: `${base}/model.onnx`, bytes: BYTES }] };
  const say = (text: string): void => void said.push(text);
  await add(entryOf([], { sources: [missing, there] }), { say });
  exactly(t, said, [/404.*\n.*trying another source/]);
  t.strictSame(placed(folder), ['tried']);
  const none = entryOf([], { name: 'none', sources: [missing, missing] });
  await rejectsExactly(t, add(none), { message: /404.*\n.*404/ });
});

t.test('a model without a file that its entry promises is not installed', async (t) => {
  const folder = freshModels(t);
  const { base } = await serve(t, { 'model.onnx': WEIGHTS });
  const entry = entryOf([{ url: `${base}/model.onnx`, bytes: BYTES }], { needs: ['*.onnx', 'voices.bin'] });
  await rejectsExactly(t, add(entry), { name: 'SetupError', message: /does not hold voices.bin/ });
  t.strictSame([placed(folder), fs.existsSync(path.join(folder, 'catalogue/.pins.json'))], [[], false]);
});

t.test('a signal in the middle leaves no folder, and the next run continues', async (t) => {
  const folder = freshModels(t);
  let slow = true;
  const { base, requests } = await serve(t, { 'model.onnx': WEIGHTS }, () => {
    if (!slow) return whole;
    return (_request, response, body) => {
      response.writeHead(200, { etag: `"${body.length}-${body[0]}"`, 'content-length': body.length });
      response.write(body.subarray(0, body.length / 2));
    };
  });
  const entry = entryOf([{ url: `${base}/model.onnx`, bytes: BYTES, sha256: sha256(WEIGHTS) }]);
  const source =
    `const { install } = await import(${JSON.stringify(commandFile('install.mjs'))});` +
    `const entry = ${JSON.stringify(entry)};` +
    'await install(entry, entry.sources, { note() {}, say() {} });';
  const { child, ended } = start(t, ['--input-type=module', '-e', source]);
  const part = (): string | undefined => kept(folder).find((name) => name.endsWith('.part'));
  await until('half of it came', () => {
    const name = part();
    return name !== undefined && fs.statSync(path.join(folder, 'catalogue/.downloads', name)).size > 0;
  });
  t.equal(placed(folder).length, 1, 'it works in a temporary folder');
  child.kill('SIGTERM');
  t.equal((await ended).code, 143);
  t.strictSame(placed(folder), []);
  slow = false;
  await add(entry);
  exactly(t, requests.at(-1), { range: /^bytes=\d+-$/ });
});

t.test('files of a killed process are swept', async (t) => {
  const folder = freshModels(t);
  fs.mkdirSync(path.join(folder, 'catalogue/.partial-killed/deep'), { recursive: true });
  const { base } = await serve(t, { 'model.onnx': WEIGHTS });
  await add(entryOf([{ url: `${base}/model.onnx`, bytes: BYTES }]));
  t.strictSame(placed(folder), ['tried']);
});

t.test('two commands at once: one works, the other waits and finds it there', async (t) => {
  const folder = freshModels(t);
  const voice = {
    'de_DE-thorsten-medium.onnx': 'weights',
    'de_DE-thorsten-medium.onnx.json': '{}',
    MODEL_CARD: '',
  };
  const { base, requests } = await serve(t, voice, () => (request, response, body) => {
    setTimeout(() => whole(request, response, body), 500);
  });
  const adding = ['add', 'piper-de-thorsten', '--from', `${base}/`];
  const ended = await Promise.all([models(t, ...adding), models(t, ...adding)]);
  for (const { code, out } of ended) {
    t.equal(code, 0);
    t.match(out, /takes it up within seconds\./);
  }
  t.strictSame(placed(folder), ['piper-de-thorsten']);
  t.equal(requests.length, 3);
});
