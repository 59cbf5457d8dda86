/** The supervisor as a user sees it: starts that fail, kills, drains, several gateways. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { wavHeader } from '../../codecs/wav.js';
import { CHECKOUT } from '../../contracts/places.js';
import { processesLike } from '../../processes/process-table.js';
import { commandOf, familyOf, isAlive, memberOf } from '../fixtures/family.js';
import {
  EMBEDDED,
  EMBEDDED_POSTGRES,
  type Gateway,
  spawnGateway,
  startGateway,
  TEST_SECRET,
  TONE,
} from '../fixtures/gateway.js';
import { freePort } from '../fixtures/free-port.js';
import { shortOrLong } from '../fixtures/long.js';
import { startPostgres } from '../fixtures/postgres.js';
import { productFile } from '../fixtures/product.js';
import { until } from '../fixtures/until.js';
import { folderOf, temporaryFolder } from '../fixtures/folders.js';

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

/** Runs a gateway that is expected to give up; resolves with its output and its exit code. */
async function failedStart(env: Record<string, string>) {
  const dataDir = temporaryFolder();
  const { child, stdout, stderr } = spawnGateway({ DATA_DIR: dataDir, ...INSTALLED, ...TONE, ...env });
  const [code] = (await once(child, 'exit')) as [number | null];
  await rm(dataDir, { recursive: true, force: true });
  return { code, printed: stdout() + stderr(), pid: child.pid ?? -1 };
}

/** Settings that are refused, and with which words. */
type Refused = readonly [Record<string, string>, RegExp];

const file = (name: string): string =>
  fileURLToPath(new URL(`../../../test/fixtures/${name}`, import.meta.url));
/** Accepts the tests' certificate for all requests of this process, which partly go over TLS. */
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
const TLS = { TLS_CERT: file('edge-cert.pem'), TLS_KEY: file('edge-key.pem') };
const NO_CERTIFICATE = /^speech gateway: Cannot read the TLS file \/nowhere\.pem$/m;
const MEDIA_UDP_PORT = String(21_000 + (process.pid % 10_000));

const QUOTAS = { QUOTA_SYNTHESIS_CHARACTERS: '5', QUOTA_TRANSCRIPTION_SECONDS: '1' };

/** Two gateways with the same media port setting; the second has TLS and quotas. */
const gateway = await startGateway({ MEDIA_UDP_PORT });
t.teardown(() => gateway.stop());
const second = await startGateway({ MEDIA_UDP_PORT, ...TLS, ...QUOTAS });
t.teardown(() => second.stop());

const gone = (pids: readonly number[]) => until('all processes have ended', () => !pids.some(isAlive));

t.test('a taken port is said with its number, and nothing stays behind', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { code, printed } = await failedStart({ PORT: String(port) });
  other.close();
  t.equal(code, 1);
  t.match(
    printed,
    new RegExp(`^speech gateway: Port ${port} is taken by another process: set PORT .* (ss|lsof) .*$`, 'm'),
  );
});

t.test('a second gateway on a port that one serves is refused before anything is set up', async (t) => {
  const { port } = new URL(gateway.base);
  const { code, printed } = await failedStart({ PORT: port, DATABASE_URL: 'postgres://me@127.0.0.1:1/none' });
  t.equal(code, 1);
  t.match(printed, `Port ${port} is taken by another process`);
  t.notMatch(printed, 'DATABASE_URL');
});

// Other messages about settings: test/unit/settings.test.ts.
t.test('configuration that does not parse is named', async (t) => {
  const cases: Refused[] = [
    [{ PORT: 'eighty' }, /PORT must be a whole number/],
    [{ TTS_ENGINES: 'no-such-engine' }, /TTS_ENGINES.*no-such-engine/],
    [
      { LLM_API_KEY: 'very-secret', LLM_BASEURL: 'http://a' },
      /LLM_BASEURL is no setting; did you mean LLM_BASE_URL\?/,
    ],
    [{ WORKERS: '2' }, /WORKERS.*PORT/],
    [
      { MODEL_ROUTES: '{"s1":["flitte"]}' },
      /^speech gateway: MODEL_ROUTES names "flitte"; the engines in use are tone$/m,
    ],
    [{ FFMPEG_PATH: '/tmp' }, /^speech gateway: FFMPEG_PATH: \/tmp is not an executable file$/m],
  ];
  for (const [env, message] of cases) {
    const { code, printed } = await failedStart(env);
    t.equal(code, 1);
    t.match(printed, message);
    t.notMatch(printed, 'very-secret');
  }
});

t.test('addresses and ports of media that nobody can have are named before anything is set up', async (t) => {
  const cases: Refused[] = [
    [
      { MEDIA_HOST: '192.0.2.1' },
      /^speech gateway: MEDIA_HOST: 192\.0\.2\.1 is not an IPv4 address of this/m,
    ],
    [{ MEDIA_HOST: '::1' }, /^speech gateway: MEDIA_HOST: ::1 is not an IPv4 address of this machine/m],
    [
      { MEDIA_UDP_PORT: '65535', MEDIA_PROCESSES: '2' },
      /^speech gateway: MEDIA_UDP_PORT must leave 2 ports up to 65535 \(MEDIA_PROCESSES\)$/m,
    ],
  ];
  for (const [env, message] of cases) {
    const { code, printed } = await failedStart(env);
    t.equal(code, 1);
    t.match(printed, message);
  }
});

t.test('a start of several gateways that one of them refuses is over, and says why', async (t) => {
  const proxies: Refused = [
    { TRUSTED_PROXIES: 'nonsense' },
    /^speech gateway: TRUSTED_PROXIES: "nonsense" is neither an address/m,
  ];
  const others: Refused[] = [
    [{ OUTBOUND_ALLOW: 'http://crm' }, /^speech gateway: OUTBOUND_ALLOW: "http:\/\/crm" is no host/m],
    [{ ...TLS, TLS_CERT: '/nowhere.pem' }, NO_CERTIFICATE],
  ];
  for (const [env, message] of [proxies, ...shortOrLong([], others)]) {
    const { code, printed } = await failedStart({ WORKERS: '2', PORT: String(await freePort()), ...env });
    t.equal(code, 1);
    t.match(printed, message);
  }
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

t.test('a missing database is named without its password', async (t) => {
  const { code, printed } = await failedStart({ DATABASE_URL: 'postgres://me:hunter22@127.0.0.1:1/none' });
  t.equal(code, 1);
  t.match(printed, /DATABASE_URL/);
  t.notMatch(printed, /hunter22/);
});

t.test('a data folder that cannot be written is named in one line, whatever the database', async (t) => {
  const folder = temporaryFolder();
  const file = join(folder, 'file');
  await writeFile(file, '');
  const elsewhere = { DATABASE_URL: 'postgres://me@127.0.0.1:1/none' };
  const cases: Record<string, string>[] = [
    { DATA_DIR: file, ...EMBEDDED_POSTGRES },
    { DATA_DIR: join(file, 'data'), ...elsewhere },
    // A folder in which even root may create nothing.
    ...(process.platform === 'linux' ? [{ DATA_DIR: '/sys/speech-gateway', ...elsewhere }] : []),
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

t.test('missing models are named with the way to get them', async (t) => {
  const { code, printed } = await failedStart({ ...EMBEDDED, MODELS_DIR: '/nowhere' });
  t.equal(code, 1);
  t.match(printed, /npm start/);
});

/** One data folder and its Postgres, from the first start to the last stop. */
t.test('a data folder', async (t) => {
  const dataDir = folderOf(t);
  const settings = { ...EMBEDDED_POSTGRES, DATA_DIR: dataDir, API_KEY: '' };
  const first = await startGateway(settings);
  const key = /^ {2}key +(\S+)/m.exec(first.stdout())?.[1] ?? '';
  const authorization = { authorization: `Bearer ${key}` };
  const speaks = async (gateway: Gateway): Promise<boolean> => {
    const spoken = await speak(gateway, { text: 'a', format: 'mp3' }, authorization);
    return (await spoken.arrayBuffer()).byteLength > 0 && spoken.status === 200;
  };

  await t.test('the first start prints a key once, for the owner alone (decision 23)', async (t) => {
    t.ok(await speaks(first));
    t.match(first.stdout(), /curl/);
    t.match(first.stdout(), /calls +unencrypted, by ws:/, 'without TLS it says so (decision 7)');
    t.equal((await stat(join(dataDir, 'api-key'))).mode & 0o777, 0o600);
  });

  await t.test('SIGKILL of the supervisor orphans nothing', async () => {
    const children = familyOf(first.pid).filter(
      (pid) => pid !== first.pid && !commandOf(pid).includes('postgres'),
    );
    first.kill('SIGKILL');
    await first.exited;
    await gone(children);
  });

  const next = await startGateway(settings);
  await t.test('the next start has its data, and its key, which it does not print', async (t) => {
    t.notOk(next.stdout().includes(key));
    t.match(next.stdout(), /api-key/);
    t.ok(await speaks(next));
  });

  await t.test('SIGTERM lets what runs come to its end, takes nothing new, leaves nothing', async (t) => {
    const family = familyOf(next.pid);
    t.ok(family.length > 3, 'supervisor, encoder, database');
    const long = { text: MINUTES, format: 'pcm', sample_rate: 16_000 };
    const whole = await (await speak(next, long, authorization)).arrayBuffer();
    const running = await speak(next, long, authorization);
    next.kill('SIGTERM');
    t.equal((await running.arrayBuffer()).byteLength, whole.byteLength, 'the running stream is complete');
    t.equal(await next.exited, 0);
    await gone(family);
  });
});

t.test('SIGTERM while Postgres is made, or starts, leaves no process and no lock behind', async (t) => {
  const dataDir = folderOf(t);
  const settings = { ...EMBEDDED_POSTGRES, ...TONE, DATA_DIR: dataDir };
  const isOn = (words: readonly string[]): boolean => words.some((word) => word.includes(dataDir));
  const leaveOnce = async (file: string): Promise<void> => {
    const { child, stderr } = spawnGateway(settings);
    await until(`${file} is there`, () => existsSync(join(dataDir, file)));
    child.kill('SIGTERM');
    t.strictSame(await once(child, 'exit'), [0, null], stderr());
    t.strictSame(processesLike(isOn), [], `nothing runs after ${file}`);
    t.notMatch((await readdir(dataDir)).join(' '), /lock|new|socket/);
  };
  await leaveOnce('postgres.new');
  await (await startGateway(settings)).stop();
  await leaveOnce('postgres-socket');
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
  t.match(await refused.json(), { status: 402, message: /credit/ });
  const heard = await transcribe(second, TWO_SECONDS);
  t.equal(heard.status, 200, 'what is transcribed has a quota of its own');
  await heard.arrayBuffer();
  t.equal((await transcribe(second, TWO_SECONDS)).status, 402);
});

t.test('TLS by certificate files', async (t) => {
  const missing = await failedStart({ ...TLS, TLS_CERT: '/nowhere.pem' });
  t.equal(missing.code, 1);
  t.match(missing.printed, NO_CERTIFICATE);
  t.match(second.base, /^https:/);
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
