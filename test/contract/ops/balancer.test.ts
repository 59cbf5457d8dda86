/**
 * The balancer of compose.yaml, as Caddy itself reads its file, between two servers that stand for gateways: when one is killed, no
 * request for speech is lost, and none that makes something is sent twice. Caddy is no package that tests install (Debian's is older than
 * what the file says), so this runs where it is on PATH.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { externalTool } from '../../fixtures/external.js';
import { folderOf } from '../../fixtures/folders.js';
import { freePort } from '../../fixtures/free-port.js';
import { until } from '../../fixtures/until.js';

const CADDY = externalTool('caddy');
const ONLY_WITH_CADDY = { skip: CADDY === undefined && 'not on PATH: caddy' };
const FILE = readFileSync(new URL('ops/deploy/Caddyfile', CHECKOUT), 'utf8');
const BODY = Buffer.alloc(100_000);
const COUNT = 20;

/** Answers nothing until `/go`, then with the bytes that came; `/received` is how many requests came but those. */
const SERVER = `
  let received = 0;
  let go;
  const going = new Promise((resolve) => (go = resolve));
  const server = require('node:http').createServer((request, response) => {
    if (request.url === '/health') return response.end('{}');
    if (request.url === '/received') return response.end(String(received));
    if (request.url === '/go') return response.end(String(go()));
    received += 1;
    let bytes = 0;
    request.on('data', (data) => (bytes += data.length));
    request.on('end', () => going.then(() => response.end(String(bytes))));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

type Owner = Pick<Test, 'teardown'>;

async function startServer(t: Owner) {
  const child = spawn(process.execPath, ['--eval', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const base = `http://127.0.0.1:${said.toString().trim()}`;
  const received = async (): Promise<number> => Number(await (await fetch(`${base}/received`)).text());
  const go = (): Promise<Response> => fetch(`${base}/go`);
  const die = async (): Promise<void> => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { base, received, go, die };
}

/** Caddy with the file of compose.yaml, but for the places of the gateways and its own. */
async function startBalancer(t: Owner, servers: readonly string[]): Promise<string> {
  const base = `http://127.0.0.1:${await freePort()}`;
  const text = FILE.replace(/^:8080 /m, `${base} `).replace(
    'gateway-1:8080 gateway-2:8080',
    servers.join(' '),
  );
  const folder = folderOf(t);
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n}\n${text}`);
  const child = spawn(CADDY ?? '', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { HOME: folder, PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (line: string) => (said += line));
  t.teardown(() => child.kill('SIGKILL'));
  await until('Caddy is ready', async () => {
    if (child.exitCode !== null) throw new Error(said);
    const answer = await fetch(`${base}/health`).catch(() => undefined);
    return answer?.status === 200;
  });
  return base;
}

/** Two servers behind the balancer, on which as many requests wait, of both; resolves once the first one is dead. */
async function withOneKilled(t: Owner, path: string) {
  const [first, second] = await Promise.all([startServer(t), startServer(t)]);
  const base = await startBalancer(t, [first.base, second.base]);
  const post = async (place: string) => {
    const answer = await fetch(base + place, { method: 'POST', body: BODY });
    return { status: answer.status, text: await answer.text() };
  };
  const answers = Promise.all(Array.from({ length: COUNT }, () => post(path)));
  await until('they wait', async () => (await first.received()) + (await second.received()) === COUNT);
  const onFirst = await first.received();
  await first.die();
  return { second, post, answers, onFirst };
}

t.test('a gateway that is killed costs no request for speech', ONLY_WITH_CADDY, async (t) => {
  const { second, post, answers, onFirst } = await withOneKilled(t, '/v1/tts');
  t.ok(onFirst > 0 && onFirst < COUNT, `${onFirst} of ${COUNT} were on it`);
  await until('the other has all', async () => (await second.received()) === COUNT);
  await second.go();
  const heard = { status: 200, text: String(BODY.length) };
  t.strictSame(
    await answers,
    Array.from({ length: COUNT }, () => heard),
  );
  for (const path of ['/v1/asr', '/compat/v1/audio/speech', '/compat/elevenlabs/v1/text-to-speech/a/stream'])
    t.strictSame(await post(path), heard, path);
});

t.test('it costs those that make something, which are not made twice', ONLY_WITH_CADDY, async (t) => {
  const { second, answers, onFirst } = await withOneKilled(t, '/v1/agent/sessions');
  await second.go();
  const statuses = (await answers).map(({ status }) => status);
  t.equal(statuses.filter((status) => status === 502).length, onFirst);
  t.equal(await second.received(), COUNT - onFirst);
});
