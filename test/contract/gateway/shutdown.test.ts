/** Ends of a gateway when a signal goes to npm, to the process, to its whole group, or to everything that it has started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { BUILT, CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { startOf } from '../../../processes/process-table.js';
import { fillDataDir } from '../../fixtures/database/clusters.js';
import { createDatabase, testServer } from '../../fixtures/database/databases.js';
import { externalTool, skipReason } from '../../fixtures/external.js';
import { commandOf, familyOf, isAlive, memberOf } from '../../fixtures/processes/family.js';
import {
  EMBEDDED_POSTGRES,
  LIKE_NPM,
  MEDIA,
  PATIENT,
  TEST_KEY,
  TEST_SECRET,
  TONE,
  WITHOUT_NOHUP,
} from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';
import { productFile } from '../../fixtures/processes/product.js';
import { until } from '../../fixtures/until.js';
import { temporaryFolder } from '../../fixtures/folders.js';

const ROOT = fileURLToPath(CHECKOUT);
const START = join(ROOT, 'ops/setup/start.mjs');
const MAIN = productFile('gateway/main');

/** 7 MB of audio as `speak` asks for it; the sockets' buffers hold 4. */
const MINUTES = 'abcdefghi '.repeat(200);

interface Started {
  readonly child: ChildProcess;
  readonly base: string;
  readonly dataDir: string;
  printed(): string;
  readonly exited: Promise<number | string>;
}

/** A database on the run's server, unless the test needs the gateway's own Postgres. */
async function database(t: Test, more: object): Promise<object> {
  const server = testServer();
  if (!server || 'DATABASE_URL' in more) return {};
  const { url, drop } = await createDatabase(server, { migrated: true });
  t.teardown(drop);
  return { DATABASE_URL: url, SECRETS_KEY: TEST_SECRET };
}

/** Starts a gateway in its own process group, as a service or a job of a terminal. */
async function start(t: Test, [file = '', ...args]: readonly string[], more: object = {}): Promise<Started> {
  const dataDir = temporaryFolder();
  if ('DATABASE_URL' in more) fillDataDir(dataDir);
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    ...WITHOUT_NOHUP,
    HOST: '127.0.0.1',
    PORT: '0',
    ...MEDIA,
    ...PATIENT,
    ...TONE,
    ...(await database(t, more)),
  };
  const child = spawn(file, args, {
    cwd: ROOT,
    detached: true,
    env: { ...env, API_KEY: TEST_KEY, DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  t.teardown(() => {
    for (const pid of familyOf(child.pid ?? -1)) if (pid > 1 && isAlive(pid)) process.kill(pid, 'SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  });
  const base = await until(
    'the gateway is ready',
    () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${printed}`);
      return /address +(http:\S+)/.exec(printed)?.[1];
    },
    120_000,
  );
  return { child, base, dataDir, printed: () => printed, exited };
}

const speak = async (base: string) => {
  const response = await fetch(`${base}/v1/tts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: MINUTES, format: 'pcm', sample_rate: 44_100 }),
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return { length: async () => (await response.arrayBuffer()).byteLength };
};

/** Length of the complete answer to `speak`, the same at every gateway here. */
let length: number | undefined;
const wholeLength = async (base: string): Promise<number> => (length ??= await (await speak(base)).length());

const kill = (pid: number, signal: NodeJS.Signals = 'SIGTERM'): void => void process.kill(pid, signal);
const gatewayOf = ({ child }: Started): number => {
  const own = child.pid ?? -1;
  return /gateway\/main\.js|start\.mjs/.test(commandOf(own)) && !/npm|sh -c/.test(commandOf(own))
    ? own
    : memberOf(own, 'start.mjs');
};
/** The processes of a gateway, each with its start time, since numbers are reused. */
const membersOf = ({ child }: Started) =>
  familyOf(child.pid ?? -1).map((pid) => ({ pid, began: startOf(pid) }));

const NODE = [process.execPath, MAIN];
const NPM = ['npm', 'start'];
/** A stand-in for an npm whose script shell stays between npm and the gateway. */
const THROUGH_A_SHELL = ['/bin/sh', '-c', `/bin/sh -c '"${process.execPath}" "${START}"; true'; true`];

interface Way {
  readonly command: readonly string[];
  readonly env?: object;
  signal(started: Started): void | Promise<void>;
  readonly code?: unknown;
  /** A program from outside npm. */
  readonly needs?: string;
}

const signalEach = (started: Started, signal: NodeJS.Signals): void => {
  for (const { pid } of membersOf(started)) if (isAlive(pid)) kill(pid, signal);
};

const WORKERS = { ...EMBEDDED_POSTGRES, WORKERS: '2', PORT: String(20_000 + (process.pid % 10_000)) };

/** SIGHUP, and a terminal that can be written to no more; then SIGHUP alone. */
const CLOSED_TERMINAL: Readonly<Record<string, Way>> = {
  'a terminal that is closed': {
    needs: 'script',
    command: ['script', '--quiet', '--flush', '--command', 'npm start', '/dev/null'],
    env: EMBEDDED_POSTGRES,
    signal: ({ child }) => kill(child.pid ?? 0, 'SIGKILL'),
  },
};
const HANG_UP: Readonly<Record<string, Way>> = {
  'SIGHUP to the group of npm, as of a terminal that is closed': {
    command: NPM,
    env: EMBEDDED_POSTGRES,
    signal: ({ child }) => kill(-(child.pid ?? 0), 'SIGHUP'),
  },
};

const leaves = ({ base }: Started): Promise<true> =>
  until('it leaves', () =>
    fetch(`${base}/health`).then(
      ({ status }) => status !== 200,
      () => true,
    ),
  );

/** What the short form tries: several signals in one where they do not hide each other. SIGTERM to the process alone: data-folder.test.ts. */
const WAYS: Readonly<Record<string, Way>> = {
  'SIGQUIT to the whole group of a gateway with workers, then SIGTERM to everything, Postgres included': {
    command: NODE,
    env: WORKERS,
    async signal(started) {
      kill(-(started.child.pid ?? 0), 'SIGQUIT');
      await leaves(started);
      signalEach(started, 'SIGTERM');
    },
    code: 0,
  },
  'SIGTERM to npm': { command: NPM, signal: ({ child }) => kill(child.pid ?? 0), code: 0 },
  'SIGINT to the group of npm, as of ctrl-C': {
    command: NPM,
    env: EMBEDDED_POSTGRES,
    signal: ({ child }) => kill(-(child.pid ?? 0), 'SIGINT'),
  },
  'SIGKILL to what started the shell that started it': {
    command: THROUGH_A_SHELL,
    env: { ...EMBEDDED_POSTGRES, ...LIKE_NPM },
    signal: ({ child }) => kill(child.pid ?? 0, 'SIGKILL'),
  },
  ...CLOSED_TERMINAL,
  ...(externalTool('script') ? {} : HANG_UP),
};

/** The long form has each signal by itself as well. */
const ALL_WAYS: Readonly<Record<string, Way>> = {
  ...WAYS,
  'SIGTERM to the whole group of a gateway with workers': {
    command: NODE,
    env: WORKERS,
    signal: ({ child }) => kill(-(child.pid ?? 0)),
    code: 0,
  },
  'SIGTERM to everything, Postgres included, twice': {
    command: NODE,
    env: EMBEDDED_POSTGRES,
    signal(started) {
      signalEach(started, 'SIGTERM');
      signalEach(started, 'SIGTERM');
    },
    code: 0,
  },
  'SIGQUIT to the whole group of a gateway, as of ctrl-\\': {
    command: NODE,
    env: EMBEDDED_POSTGRES,
    signal: ({ child }) => kill(-(child.pid ?? 0), 'SIGQUIT'),
    code: 0,
  },
  'SIGKILL to npm': {
    command: NPM,
    env: EMBEDDED_POSTGRES,
    signal: ({ child }) => kill(child.pid ?? 0, 'SIGKILL'),
  },
  'SIGKILL to the npx that started an installed package': {
    command: THROUGH_A_SHELL,
    env: { ...EMBEDDED_POSTGRES, npm_lifecycle_event: 'npx', npm_lifecycle_script: "'speech-gateway'" },
    signal: ({ child }) => kill(child.pid ?? 0, 'SIGKILL'),
  },
  ...HANG_UP,
};

for (const [name, { command, env, signal, code, needs }] of Object.entries(shortOrLong(WAYS, ALL_WAYS))) {
  const skip = needs === undefined ? false : skipReason(needs);
  t.test(`${name}: what is being spoken is whole, and nothing stays behind`, { skip }, async (t) => {
    const started = await start(t, command, env);
    t.equal((await fetch(`${started.base}/health`)).status, 200, 'who prints the address is ready');
    const whole = await wholeLength(started.base);
    const running = await speak(started.base);
    const family = membersOf(started);
    t.ok(family.length > 2, 'the gateway and its workers');
    await signal(started);
    t.equal(await running.length(), whole);
    const exit = await started.exited;
    if (code !== undefined) t.equal(exit, code, started.printed());
    const left = () => family.filter(({ pid, began }) => startOf(pid) === began);
    await until(
      `all have ended: ${left()
        .map(({ pid }) => commandOf(pid))
        .join('; ')}`,
      () => left().length === 0,
    );
    t.notMatch(started.printed(), /worker exited/, 'no worker was restarted');
    t.strictSame(readdirSync(join(started.dataDir, 'run')), ['uploads'], 'no socket and no pid file');
  });
}

t.test('a gateway that is started by hand outlives the shell', async (t) => {
  const script = `"${process.execPath}" "${MAIN}" & echo started; wait`;
  const started = await start(t, ['/bin/sh', '-c', script]);
  const gateway = memberOf(started.child.pid ?? -1, 'main.js');
  const family = familyOf(gateway);
  kill(started.child.pid ?? 0, 'SIGKILL');
  await started.exited;
  await until(
    'it was taken over',
    () => !readFileSync(`/proc/${gateway}/status`, 'utf8').includes(`PPid:\t${started.child.pid}\n`),
  );
  await new Promise((resolve) => setTimeout(resolve, 2500));
  t.ok((await (await speak(started.base)).length()) > 0);
  kill(gateway);
  await until('it has left', () => !family.some(isAlive));
});

interface UnderNohup {
  readonly command: readonly string[];
  readonly env?: object;
}
const NAMED: Readonly<Record<string, UnderNohup>> = {
  'named by the shell': { command: ['nohup', ...NPM], env: { _: '/usr/bin/nohup' } },
};
/** As a shell starts it, and as `nohup` leaves its standard input where that was a terminal. */
const UNDER_NOHUP: Readonly<Record<string, UnderNohup>> = {
  ...NAMED,
  'with its standard input': { command: ['/bin/sh', '-c', 'exec nohup npm start 0>/dev/null'] },
};

for (const [name, { command, env }] of Object.entries(shortOrLong(NAMED, UNDER_NOHUP)))
  t.test(`nohup npm start outlives its terminal: ${name}`, async (t) => {
    const started = await start(t, command, env);
    const gateway = gatewayOf(started);
    const family = familyOf(gateway);
    kill(-(started.child.pid ?? 0), 'SIGHUP');
    t.equal(await started.exited, 'SIGHUP', 'npm goes');
    // Longer than it would take to notice that npm has gone.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    t.ok((await (await speak(started.base)).length()) > 0);
    kill(gateway);
    await until('it has left', () => !family.some(isAlive));
  });

/** Below a shell of its own: the tests may be run under `nohup` themselves. */
async function printedBelowShell(command: string): Promise<string> {
  const child = spawn('/bin/sh', ['-c', `${command}; true`], {
    env: { ...process.env, ...WITHOUT_NOHUP },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await child.stdout.toArray()).join('');
}

t.test('nohup is known by the standard input that it leaves, which is for writing only', async (t) => {
  const { href } = new URL('processes/supervisor/hang-up.js', BUILT);
  const script = `const { isUnderNohup } = await import('${href}'); console.log(isUnderNohup())`;
  const node = `"${process.execPath}" --input-type=module --eval "${script}"`;
  t.equal(await printedBelowShell(`nohup ${node} 0>/dev/null`), 'true\n');
  t.equal(await printedBelowShell(`${node} </dev/null`), 'false\n');
});

t.test('a gateway that a test started goes with the test, though that was killed', async (t) => {
  const fixture = new URL('test/fixtures/gateway.js', BUILT);
  const script = `const { startGateway } = await import('${fixture.href}');
    const { pid, dataDir } = await startGateway();
    console.log(JSON.stringify({ pid, dataDir }));`;
  const test = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, ...(await database(t, {})) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => test.kill('SIGKILL'));
  const [line] = (await once(test.stdout, 'data')) as [Buffer];
  const { pid, dataDir } = JSON.parse(line.toString()) as { pid: number; dataDir: string };
  const family = familyOf(pid);
  t.teardown(() => {
    for (const each of family) if (isAlive(each)) kill(each, 'SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  });
  t.ok(family.length > 2, 'the gateway and its workers');
  test.kill('SIGKILL');
  await until('all have ended', () => !family.some(isAlive));
});
