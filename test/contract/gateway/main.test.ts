/** The supervisor as a user sees it: starts that fail, kills, drains, several gateways. */
import { type AddressInfo, createServer } from 'node:net';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../fixtures/tap.js';
import { wavHeader } from '../../../codecs/wav.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { processesLike } from '../../../processes/process-table.js';
import { filledFolderOf } from '../../fixtures/database/clusters.js';
import { exactly } from '../../fixtures/exactly.js';
import { memberOf } from '../../fixtures/processes/family.js';
import {
  EMBEDDED_POSTGRES,
  type Gateway,
  spawnGateway,
  startGateway,
  TEST_SECRET,
  TONE,
  wordsOf,
} from '../../fixtures/gateway.js';
import { freePort } from '../../fixtures/free-port.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { productFile } from '../../fixtures/processes/product.js';
import { until } from '../../fixtures/until.js';
import { folderOf, temporaryFolder } from '../../fixtures/folders.js';

/** Minutes of tones, of which the sockets' buffers hold a part: 6 MB of audio at their own rate. */
const MINUTES = 'abcdefghi '.repeat(500);

const speak = (gateway: Gateway, body: object, headers: Record<string, string> = gateway.authorization) =>
  fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const TWO_SECONDS = new Blob([wavHeader(16_000), new Int16Array(2 * 16_000)]);

const transcribe = (gateway: Gateway, audio: Blob) => {
  const body = new FormData();
  body.set('audio', audio);
  return fetch(`${gateway.base}/v1/asr`, { method: 'POST', headers: gateway.authorization, body });
};

/** Ready for starts that fail later than at their database. */
const { url: DATABASE_URL } = await startPostgres(t);
const INSTALLED = { DATABASE_URL, SECRETS_KEY: TEST_SECRET };

/** A database where none is: a start that asks for it has come too far. */
const NO_DATABASE = { DATABASE_URL: 'postgres://me@127.0.0.1:1/none' };

const NOT_FOR_FOLDERS = ['/sys/speech-gateway', '/proc/speech-gateway'].map((folder) => ({
  ...NO_DATABASE,
  DATA_DIR: folder,
}));

/** Runs a gateway that is expected to give up; resolves with its output and its exit code. */
async function failedStart(env: Record<string, string>) {
  const dataDir = temporaryFolder();
  const { child, stdout, stderr } = spawnGateway({ DATA_DIR: dataDir, ...INSTALLED, ...TONE, ...env });
  const [code] = (await once(child, 'exit')) as [number | null];
  await rm(dataDir, { recursive: true, force: true });
  return { code, printed: wordsOf(stdout() + stderr()), pid: child.pid ?? -1 };
}

/** Settings that are refused, and with which words. */
type Refused = readonly [Record<string, string>, RegExp];

const file = (name: string): string => fileURLToPath(new URL(`test/fixtures/${name}`, CHECKOUT));
/** Accepts the tests' certificate for all requests of this process, which partly go over TLS. */
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
const TLS = { TLS_CERT: file('edge-cert.pem'), TLS_KEY: file('edge-key.pem') };
const MEDIA_UDP_PORT = String(21_000 + (process.pid % 10_000));

const QUOTAS = { QUOTA_SYNTHESIS_CHARACTERS: '5', QUOTA_TRANSCRIPTION_SECONDS: '1' };

/** A start waits for its database, while other tests run. */
const withoutDatabase = failedStart({
  DATABASE_URL: 'postgres://me:hunter22@127.0.0.1:1/none',
  DATABASE_WAIT_SECONDS: '3',
});

/** Two gateways with the same media port setting; the second has TLS and quotas. */
const gateway = await startGateway({ MEDIA_UDP_PORT });
t.teardown(() => gateway.stop());
const second = await startGateway({ MEDIA_UDP_PORT, ...TLS, ...QUOTAS });
t.teardown(() => second.stop());

t.test('a taken port is said with its number, before anything is set up', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const taken = { 'another program': String(port), 'another gateway': new URL(gateway.base).port };
  for (const [who, port] of Object.entries(taken)) {
    const { code, printed } = await failedStart({ PORT: port, ...NO_DATABASE });
    t.equal(code, 1, who);
    t.match(
      printed,
      new RegExp(`^speech gateway: Port ${port} is taken by another process: set PORT .* (ss|lsof) .*$`, 'm'),
    );
    t.notMatch(printed, 'DATABASE_URL');
  }
});

// All other messages about settings: test/unit/gateway/config/settings.test.ts.
t.test('settings that are wrong are named before anything is set up', async (t) => {
  const cases: Refused[] = [
    [{ MODEL_ROUTES: '{"s1":["flitte"]}' }, /^speech gateway: MODEL_ROUTES names "flitte"/m],
    [
      { PORT: 'eighty', LLM_API_KEY: 'very-secret', LLM_BASEURL: 'http://a' },
      /LLM_BASEURL is no setting; did you mean LLM_BASE_URL\?\n.*PORT must be a whole number/,
    ],
  ];
  for (const [env, message] of cases) {
    const { code, printed } = await failedStart({ ...NO_DATABASE, ...env });
    t.equal(code, 1);
    t.match(printed, message);
    t.notMatch(printed, /DATABASE_URL|very-secret/);
  }
});

t.test('a start of several gateways that one of them refuses is over, and says why', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { code, printed } = await failedStart({ WORKERS: '2', PORT: String(port) });
  other.close();
  t.equal(code, 1);
  t.match(printed, new RegExp(`^speech gateway: Port ${port} is taken by another process`, 'm'));
});

t.test('the program runs under any path that leads to it', async (t) => {
  const folder = temporaryFolder();
  const linked = join(folder, 'a folder of Müller');
  await symlink(dirname(productFile('gateway/main')), linked);
  const child = spawn(process.execPath, [join(linked, 'main.js')], {
    env: { ...process.env, PORT: 'eighty' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
  t.strictSame(await once(child, 'close'), [1, null]);
  t.match(printed, 'PORT must be a whole number');
  await rm(folder, { recursive: true });
});

t.test('a data folder that cannot be written is named in one line, whatever the database', async (t) => {
  const folder = temporaryFolder();
  const file = join(folder, 'file');
  await writeFile(file, '');
  const cases: Record<string, string>[] = [
    { DATA_DIR: join(file, 'data'), ...EMBEDDED_POSTGRES },
    // Folders in which even root may create nothing; one of them says that its parent does not exist.
    ...(process.platform === 'linux' ? NOT_FOR_FOLDERS : []),
  ];
  for (const env of cases) {
    const { code, printed } = await failedStart({ LOG_LEVEL: 'silent', ...env });
    t.equal(code, 1);
    t.match(printed, /^speech gateway: DATA_DIR \S+ cannot be written: .*Set DATA_DIR to another folder\n$/);
  }
  await rm(folder, { recursive: true });
});

t.test('a media port that another gateway holds is noticed at the start', async (t) => {
  t.notMatch(gateway.stderr(), /MEDIA_UDP_PORT/);
  await until('it is said', () =>
    second.stderr().includes(`UDP port ${MEDIA_UDP_PORT} is taken by another process`),
  );
  t.match(second.stderr(), /Set MEDIA_UDP_PORT to one that is free/);
});

t.test('SIGTERM while Postgres is made, or starts, leaves no process and no lock behind', async (t) => {
  const leaveOnce = async (dataDir: string, file: string): Promise<void> => {
    const isOn = (words: readonly string[]): boolean => words.some((word) => word.includes(dataDir));
    const { child, stderr } = spawnGateway({ ...EMBEDDED_POSTGRES, ...TONE, DATA_DIR: dataDir });
    await until(`${file} is there`, () => existsSync(join(dataDir, file)));
    child.kill('SIGTERM');
    t.strictSame(await once(child, 'exit'), [0, null], stderr());
    t.strictSame(processesLike(isOn), [], `nothing runs after ${file}`);
    t.notMatch((await readdir(dataDir)).join(' '), /lock|new|socket/);
  };
  await leaveOnce(folderOf(t), 'postgres.new');
  await leaveOnce(filledFolderOf(t), 'postgres-socket');
});

t.test('SIGKILL of the encoder costs the stream that it held, nothing else', async (t) => {
  // At another rate than that of the tones, it comes from the encoder.
  const broken = await speak(gateway, { text: MINUTES, format: 'pcm', sample_rate: 44_100 });
  const reader = broken.body?.getReader();
  await reader?.read();
  const untouched = await speak(gateway, { text: MINUTES, format: 'pcm', sample_rate: 16_000 });
  const encoder = memberOf(gateway.pid, 'workers/encode');
  process.kill(encoder, 'SIGKILL');
  const rest = (async () => {
    while (!(await reader?.read())?.done);
  })();
  await t.rejects(rest, 'the client sees a failure, not a short success');
  t.ok((await untouched.arrayBuffer()).byteLength > 1_000_000, 'a stream without the encoder goes on');
  const after = await speak(gateway, { text: 'a', format: 'mp3' });
  t.equal(after.status, 200, 'the encoder is back');
  await after.arrayBuffer();
  t.not(memberOf(gateway.pid, 'workers/encode'), encoder);
});

t.test('a quota that is used up is 402, for its kind alone', async (t) => {
  const spoken = await speak(second, { text: 'abcdef', format: 'wav' });
  t.equal(spoken.status, 200, 'a job that began before the quota was used up is not cut');
  await spoken.arrayBuffer();
  const refused = await speak(second, { text: 'a' });
  t.equal(refused.status, 402);
  exactly(t, await refused.json(), { status: 402, message: /credit/ });
  const heard = await transcribe(second, TWO_SECONDS);
  t.equal(heard.status, 200, 'what is transcribed has a quota of its own');
  await heard.arrayBuffer();
  t.equal((await transcribe(second, TWO_SECONDS)).status, 402);
});

t.test('TLS by certificate files', async (t) => {
  t.match(second.base, /^https:/);
  t.equal((await speak(second, { text: 'a' }, {})).status, 401);
});

t.test('the health check of the image knows a gateway with TLS, and one that is gone', async (t) => {
  const script = fileURLToPath(new URL('ops/deploy/health.mjs', CHECKOUT));
  const check = async (env: Record<string, string>): Promise<number | null> => {
    const child = spawn(process.execPath, [script], { env: { ...process.env, ...env }, stdio: 'ignore' });
    return ((await once(child, 'close')) as [number | null])[0];
  };
  const portOf = ({ base }: Gateway): string => new URL(base).port;
  t.equal(await check({ PORT: portOf(gateway) }), 0);
  t.equal(await check({ PORT: portOf(second), ...TLS }), 0);
  t.equal(await check({ PORT: String(await freePort()) }), 1);
});

t.test('a missing database is named without its password', async (t) => {
  const { code, printed } = await withoutDatabase;
  t.equal(code, 1);
  t.match(printed, /waiting for the database .*127\.0\.0\.1:1.*ECONNREFUSED/);
  t.match(printed, /check DATABASE_URL/);
  t.notMatch(printed, /hunter22/);
});
