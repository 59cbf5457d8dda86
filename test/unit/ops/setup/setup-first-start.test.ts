/**
 * A first start is small, and reports its failures: parts of the lock that are left out, files that are trimmed,
 * a watch over npm's log, space on the disks, and the compiler without types.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { isUnknownAuthorityCode } from '../../../../contracts/parts/outcome-of.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

type Entries = Record<string, object>;
interface Statfs {
  readonly bavail: number;
  readonly bsize: number;
  readonly blocks: number;
}

const setupUrl = (name: string): URL => new URL(`ops/setup/${name}`, CHECKOUT);
const load = async <T>(name: string): Promise<T> => (await import(setupUrl(name).href)) as T;
const { laidOutFromLock } = await load<{
  laidOutFromLock(folder: string, parts?: string[]): boolean;
}>('packages.mjs');
const { partsToRun, partArguments } = await load<{
  partsToRun(env: NodeJS.ProcessEnv): string[];
  partArguments(parts: string[]): string[];
}>('parts.mjs');
const { trimPackages } = await load<{ trimPackages(modules: string): void }>('trim.mjs');
const { watchRegistry } = await load<{
  watchRegistry(options: object): { line(text: string): void; end(): void };
}>('registry-watch.mjs');
const { authorityHint } = await load<{ authorityHint(text: string | undefined): string }>('authorities.mjs');
const { checkSpace } = await load<{
  checkSpace(
    needs: { folder: string; megabytes: number }[],
    system?: { stat?: (place: string) => { dev: number }; statfs?: (place: string) => Statfs },
  ): void;
}>('space.mjs');

const lock = (packages: Entries): string => JSON.stringify({ packages: { '': {}, ...packages } });

t.test('packages: a part that was left out is not missed, but where it is wanted', async (t) => {
  const wanted = {
    'node_modules/runs': { version: '1.0.0' },
    'node_modules/tests': { version: '1.0.0', dev: true },
    'node_modules/extra': { version: '1.0.0', peer: true },
    'node_modules/both': { version: '1.0.0', devOptional: true },
  };
  const { 'node_modules/tests': _tests, 'node_modules/extra': _extra, ...present } = wanted;
  const folder = t.testdir({
    'package-lock.json': lock(wanted),
    node_modules: {
      runs: { 'package.json': '{}' },
      both: { 'package.json': '{}' },
      '.package-lock.json': lock(present),
    },
  });
  t.ok(laidOutFromLock(folder, []));
  t.notOk(laidOutFromLock(folder, ['dev']));
  t.notOk(laidOutFromLock(folder, ['extras']));
  t.notOk(laidOutFromLock(folder));
});

t.test(
  'packages: one for another C library is not missed, so a change of Node lays out nothing anew',
  async (t) => {
    const none = {
      version: '1.0.0',
      os: [process.platform],
      cpu: [process.arch],
      libc: ['a C library of nowhere'],
    };
    const folder = t.testdir({
      'package-lock.json': lock({ 'node_modules/native-musl': none }),
      node_modules: { '.package-lock.json': lock({}) },
    });
    t.ok(laidOutFromLock(folder));
  },
);

t.test('packages: settings that need big packages bring them', async (t) => {
  t.strictSame(partsToRun({}), []);
  t.strictSame(partsToRun({ LIVEKIT_URL: 'wss://a' }), ['extras']);
  t.strictSame(partsToRun({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' }), ['extras']);
  t.strictSame(partArguments([]), ['--include=optional', '--omit=dev', '--omit=peer']);
  t.strictSame(partArguments(['dev', 'extras']), ['--include=optional', '--include=dev', '--include=peer']);
});

t.test('packages: what nothing loads is removed, the rest stays', async (t) => {
  const modules = t.testdir({
    kuromoji: { test: { 'a.js': '' }, dict: { 'a.gz': '' }, src: { 'a.js': '', 'a.js.map': '' } },
    other: { test: { 'a.js': '' }, lib: t.fixture('symlink', 'test') },
  });
  trimPackages(modules);
  const files = fs.readdirSync(modules, { recursive: true }) as string[];
  const kept = ['kuromoji/dict/a.gz', 'kuromoji/src/a.js', 'other/test/a.js', 'other/lib'];
  for (const file of kept) t.ok(files.includes(file), file);
  for (const file of ['kuromoji/test', 'kuromoji/src/a.js.map']) t.notOk(files.includes(file), file);
});

const FETCHED = 'npm http fetch GET 200 https://a.example/b 12ms (cache miss)';
const failedWith = (code: string, attempt = 1): string =>
  `npm http fetch GET https://a.example/b attempt ${attempt} failed with ${code}`;

/** The watch's messages about these lines, until it gives up or has `until` messages. */
const watched = (lines: readonly string[], { silenceMs = 60_000, patienceMs = 60_000, until = 1 } = {}) =>
  new Promise<string[]>((resolve) => {
    const said: string[] = [];
    const say = (text: string): void => {
      if (said.push(text) >= until) resolve(said);
    };
    const giveUp = (text: string): void => say(`gives up: ${text}`);
    const watch = watchRegistry({ say, giveUp, silenceMs, patienceMs });
    lines.forEach((line) => watch.line(line));
    t.teardown(() => watch.end());
    if (lines.length > 0 && said.length >= until) resolve(said);
  });

t.test('npm: the first failure of the registry is said at once, not npm’s many tries', async (t) => {
  const lines = [failedWith('EAI_AGAIN'), failedWith('EAI_AGAIN'), failedWith('EAI_AGAIN', 2)];
  t.strictSame(await watched(lines), ['could not be reached (EAI_AGAIN); trying again']);
  t.strictSame(await watched([failedWith('503')]), ['answers 503; trying again']);
  t.strictSame(await watched([failedWith('EAI_AGAIN'), FETCHED, failedWith('ECONNRESET')], { until: 2 }), [
    'could not be reached (EAI_AGAIN); trying again',
    'could not be reached (ECONNRESET); trying again',
  ]);
});

t.test('npm: a registry that says nothing is told; one that only fails is given up', async (t) => {
  t.strictSame(await watched([], { silenceMs: 1 }), ['has not answered yet']);
  t.strictSame(await watched([failedWith('ENOTFOUND')], { patienceMs: 1, until: 2 }), [
    'could not be reached (ENOTFOUND); trying again',
    'gives up: could not be reached (ENOTFOUND)',
  ]);
});

t.test('npm: an authority that Node does not know is asked for, and nothing else is', async (t) => {
  const unknown = [
    'SELF_SIGNED_CERT_IN_CHAIN',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ];
  for (const code of unknown) {
    t.match(authorityHint(`could not be reached (${code})`), /set NODE_EXTRA_CA_CERTS/, code);
    t.ok(isUnknownAuthorityCode(code), 'the gateway knows the same codes');
  }
  for (const code of ['ENOTFOUND', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID']) {
    t.equal(authorityHint(`could not be reached (${code})`), '', code);
    t.notOk(isUnknownAuthorityCode(code), code);
  }
  t.equal(authorityHint(undefined), '');
});

t.test('disks: too little room is refused with both figures, before anything is written', async (t) => {
  const folder = t.testdir();
  const room = (megabytes: number) => () => ({ bavail: megabytes * 1000, bsize: 1000, blocks: 1 });
  const needs = [
    { folder: path.join(folder, 'a', 'b'), megabytes: 600 },
    { folder, megabytes: 120 },
  ];
  checkSpace(needs, { statfs: room(720) });
  throwsExactly(t, () => checkSpace(needs, { statfs: room(719) }), {
    message: `the disk of ${folder} has 719 MB free; set-up needs about 720 MB there`,
  });
  const disks = [1, 2];
  checkSpace(needs, { statfs: room(600), stat: () => ({ dev: disks.pop() ?? 0 }) });
  checkSpace(needs, { statfs: () => ({ bavail: 0, bsize: 1000, blocks: 0 }) });
});

t.test('build: a source that cannot be read is named, and fails it', async (t) => {
  const folder = t.testdir({
    'tsconfig.json': JSON.stringify({ compilerOptions: { rootDir: '.', outDir: 'out' } }),
    'broken.ts': 'const one = 1;\nconst = 2;\n',
  });
  const transpiler = fileURLToPath(setupUrl('transpile.mjs'));
  const source = path.join(folder, 'broken.ts');
  const args = [transpiler, path.join(folder, 'tsconfig.json'), source];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  t.equal(status, 1);
  t.match(stderr, /broken\.ts:2:6/);
  t.notOk(fs.existsSync(path.join(folder, 'out')));
});

t.test('build: every process and thread that the product starts is in its bundle', async (t) => {
  const root = fileURLToPath(setupUrl('../../'));
  const started = ['codecs', 'engines', 'gateway', 'media', 'processes', 'storage'].flatMap((room) =>
    fs
      .readdirSync(path.join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => fs.readFileSync(path.join(root, room, name), 'utf8'))
      .flatMap((text) => [...text.matchAll(/new URL\(['`](.+)['`], BUILT\)/g)].map(([, name = '']) => name)),
  );
  const workers = fs.readdirSync(path.join(root, 'gateway', 'workers'));
  const named = started.flatMap((name) =>
    name.includes('${') ? workers.map((worker) => `gateway/workers/${worker.replace(/ts$/, 'js')}`) : [name],
  );
  t.ok(named.length > workers.length);
  for (const name of named) t.ok(fs.existsSync(path.join(root, 'bundle', name)), name);
});
