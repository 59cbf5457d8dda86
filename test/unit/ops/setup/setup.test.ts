/**
 * The parts of set-up that work only on files: stamps, token table, Postgres' links, the packages of a lock that are
 * installed, the order of steps, and the counts of a test run.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../../fixtures/tap.js';
import { CHECKOUT } from '../../../../contracts/places.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';

interface Counts {
  readonly passed: number;
  readonly failed: number;
}
interface Step {
  readonly needs: string[];
  ready(): boolean;
  run(context: { signal: AbortSignal }): Promise<void> | void;
}
type Run = (name: string, work: (note: () => void) => unknown) => Promise<unknown>;

const load = async <T>(name: string): Promise<T> =>
  (await import(new URL(`ops/setup/${name}`, CHECKOUT).href)) as T;

const { tokenTable } = await load<{ tokenTable(pieces: readonly string[]): string }>('tokens.mjs');
const stamps = await load<{
  keyOf(...parts: (string | Uint8Array)[]): string;
  hasStamp(file: string, key: string): boolean;
  writeStamp(file: string, key: string): void;
  removeStamp(file: string): void;
}>('stamps.mjs');
const { linkPostgres, postgresReady } = await load<{
  linkPostgres(folder: string): void;
  postgresReady(folder: string): boolean;
}>('postgres-links.mjs');
const { laidOutFromLock, disagreements } = await load<{
  laidOutFromLock(folder: string): boolean;
  disagreements(folder: string): string[];
}>('packages.mjs');
const { missingOptional } = await load<{
  missingOptional(packages: Record<string, { optionalDependencies?: Record<string, string> }>): string[];
}>('repository-rules.mjs');
const { trimBindings } = await load<{
  trimBindings(modules: string, here: { platform: string; arch: string }): void;
}>('bindings.mjs');
const { runSteps } = await load<{
  runSteps(names: string[], progress: { run: Run }, steps: Record<string, Step>): Promise<void>;
}>('steps.mjs');
const { readCounts, countLine } = await load<{
  readCounts(file: string): Counts;
  countLine(counts: Counts): string;
}>('counts.mjs');
const { prepare } = await load<{
  prepare(names: string[], progress: { run: Run; line(text: string): void }): Promise<void>;
}>('prepare.mjs');
const { withLock } = await load<{ withLock(work: () => Promise<void>): Promise<void> }>('lock.mjs');
const { licenceRows } = await load<{ licenceRows(packages: Record<string, object>): string[] }>(
  'licences.mjs',
);

t.test('tokens: one line a piece, its bytes in base64 and its index', async (t) => {
  const { default: tokenizer } = await import('llama-tokenizer-js');
  const pieces: string[] = tokenizer.vocabById;
  const lines = tokenTable(pieces).split('\n');
  t.equal(lines.pop(), '', 'the last line is ended');
  t.equal(lines.length, 32_000);
  const decoded = (index: number): Buffer => {
    const [bytes = '', number] = (lines[index] ?? '').split(' ');
    t.equal(number, String(index));
    return Buffer.from(bytes, 'base64');
  };
  t.equal(lines[0], `${Buffer.from('<unk>').toString('base64')} 0`);
  t.same(decoded(3), Buffer.from([0]), 'a byte piece is that byte');
  t.same(decoded(258), Buffer.from([255]));
  t.equal(decoded(pieces.indexOf('▁hello')).toString(), ' hello', 'the low line is a blank');
  t.equal(decoded(pieces.indexOf('▁')).toString(), ' ');
});

t.test('stamps: hold for one key, until removed', async (t) => {
  const file = path.join(t.testdir(), 'deep', 'stamp');
  const key = stamps.keyOf('a', Buffer.from('b'));
  t.not(key, stamps.keyOf('ab'), 'the border between parts counts');
  t.notOk(stamps.hasStamp(file, key));
  stamps.writeStamp(file, key);
  t.ok(stamps.hasStamp(file, key));
  t.notOk(stamps.hasStamp(file, stamps.keyOf('other')));
  t.same(fs.readdirSync(path.dirname(file)), ['stamp'], 'nothing else is left');
  stamps.removeStamp(file);
  t.notOk(stamps.hasStamp(file, key));
});

t.test('postgres: the listed links are made once, and never leave the package', async (t) => {
  const list = [
    { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
    { source: 'native/lib/libpq.so.5.18', target: 'native/lib/deep/libpq.so' },
  ];
  const folder = t.testdir({
    native: { lib: { 'libpq.so.5.18': 'library' }, 'pg-symlinks.json': JSON.stringify(list) },
  });
  t.notOk(postgresReady(folder));
  linkPostgres(folder);
  t.ok(postgresReady(folder));
  for (const { target } of list) t.equal(fs.readFileSync(path.join(folder, target), 'utf8'), 'library');

  fs.rmSync(path.join(folder, 'native/lib/libpq.so.5'));
  fs.writeFileSync(path.join(folder, 'native/lib/libpq.so.5'), 'in the way');
  t.notOk(postgresReady(folder), 'a file in the place of a link is not a link');
  linkPostgres(folder);
  t.ok(postgresReady(folder));

  for (const entry of [
    { source: 'native/a', target: '../../outside' },
    { source: '/etc/passwd', target: 'native/a' },
  ]) {
    fs.writeFileSync(path.join(folder, 'native/pg-symlinks.json'), JSON.stringify([entry]));
    t.throws(() => linkPostgres(folder), /leaves the package/);
  }
  t.ok(postgresReady(t.testdir({})), 'nothing to do where npm has no Postgres');
});

t.test('packages: what npm laid out from this very lock is adopted, anything else is not', async (t) => {
  const wanted = {
    '': {},
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/foreign': { version: '1.0.0', integrity: 'sha512-f', optional: true, os: ['plan9'] },
    'node_modules/native': {
      version: '1.0.0',
      integrity: 'sha512-n',
      optional: true,
      os: [process.platform],
    },
  };
  const present = {
    'node_modules/a': wanted['node_modules/a'],
    'node_modules/native': wanted['node_modules/native'],
  };
  const lock = (packages: object): string => JSON.stringify({ packages });
  const manifest = () => ({ 'package.json': '{}' });
  const folder = t.testdir({
    'package-lock.json': lock(wanted),
    node_modules: { a: manifest(), native: manifest(), '.package-lock.json': lock(present) },
  });
  const record = path.join(folder, 'node_modules', '.package-lock.json');
  t.ok(laidOutFromLock(folder));

  fs.writeFileSync(
    record,
    lock({ ...present, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-other' } }),
  );
  t.notOk(laidOutFromLock(folder), 'another content');
  fs.writeFileSync(record, lock({ 'node_modules/a': present['node_modules/a'] }));
  t.notOk(laidOutFromLock(folder), 'a package for this platform is missing');
  fs.writeFileSync(record, lock(present));
  fs.rmSync(path.join(folder, 'node_modules', 'a'), { recursive: true });
  t.notOk(laidOutFromLock(folder), 'a folder is missing');
  fs.rmSync(record);
  t.notOk(laidOutFromLock(folder), 'npm left no record');
});

t.test('packages: of the binaries of uWebSockets.js those stay that this platform can load', async (t) => {
  const binaries = {
    'uws_linux_x64_115.node': '',
    'uws_linux_x64_127.node': '',
    'uws_linux_x64_93.node': '',
    'uws_linux_arm64_127.node': '',
    'uws_darwin_x64_127.node': '',
  };
  const modules = t.testdir({
    'uWebSockets.js': { 'package.json': '{}', 'index.d.ts': '', ...binaries },
  });
  const here = { platform: 'linux', arch: 'x64' };
  trimBindings(modules, here);
  const below = (...names: string[]): string[] => fs.readdirSync(path.join(modules, ...names)).sort();
  const kept = ['uws_linux_x64_115.node', 'uws_linux_x64_127.node'];
  t.same(below('uWebSockets.js'), ['index.d.ts', 'package.json', ...kept]);

  const own = t.testdir({ build: binaries, modules: { 'uWebSockets.js': t.fixture('symlink', '../build') } });
  trimBindings(path.join(own, 'modules'), here);
  t.equal(fs.readdirSync(path.join(own, 'build')).length, 5, "an operator's own build is left alone");
});

t.test('packages: a lock that package.json has left behind is told before npm refuses it', async (t) => {
  const wanted = { dependencies: { a: '1.0.0' }, devDependencies: { b: '2.0.0' } };
  const differing = (root: object): string[] =>
    disagreements(
      t.testdir({
        'package.json': JSON.stringify(wanted),
        'package-lock.json': JSON.stringify({ packages: { '': root } }),
      }),
    );
  t.same(differing(wanted), []);
  t.same(differing({ ...wanted, devDependencies: { b: '2.0.1' } }), ['b']);
  t.same(differing({ devDependencies: wanted.devDependencies }), ['a']);
  t.same(differing({ ...wanted, optionalDependencies: { c: '1.0.0' } }), ['c']);
});

t.test(
  'packages: a lock without the optional packages that it names is told before npm refuses it',
  async (t) => {
    const optionalDependencies = { '@a/linux': '1.0.0', '@a/darwin': '1.0.0' };
    const lock = { '': {}, 'node_modules/a': { optionalDependencies }, 'node_modules/@a/linux': {} };
    t.same(missingOptional(lock), ['@a/darwin']);
    t.same(missingOptional({ ...lock, 'node_modules/b/node_modules/@a/darwin': {} }), []);
  },
);

/** A step that logs when it begins and ends, and is ready once it has ended. */
function recorded(
  log: string[],
  name: string,
  needs: string[],
  work: (context: { signal: AbortSignal }) => Promise<void> | void = () => {},
): Step {
  let done = false;
  return {
    needs,
    ready: () => done,
    run: async (context) => {
      log.push(`${name} begins`);
      await work(context);
      done = true;
      log.push(`${name} ends`);
    },
  };
}

const progress: { run: Run } = { run: async (_name, work) => work(() => {}) };

t.test('steps: run side by side, after what they need, and only where they are not ready', async (t) => {
  const log: string[] = [];
  let bHasBegun = (): void => {};
  const bBegins = new Promise<void>((resolve) => (bHasBegun = resolve));
  const steps = {
    a: recorded(log, 'a', [], () => bBegins),
    b: recorded(log, 'b', [], () => bHasBegun()),
    c: recorded(log, 'c', ['a', 'b']),
  };
  await runSteps(['c', 'a', 'b'], progress, steps);
  t.same(log.slice(-2), ['c begins', 'c ends'], 'the needy one comes last');
  t.equal(log.length, 6);
  await runSteps(['c', 'a', 'b'], progress, steps);
  t.equal(log.length, 6, 'a second run does nothing');
});

t.test('steps: the first failure stops the others, and is the one that is told', async (t) => {
  const log: string[] = [];
  const aborted = (signal: AbortSignal): Promise<void> =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        log.push('b stopped');
        reject(new Error('only a consequence'));
      }),
    );
  const steps = {
    a: recorded(log, 'a', [], () => Promise.reject(new Error('the cause'))),
    b: recorded(log, 'b', [], ({ signal }) => aborted(signal)),
    c: recorded(log, 'c', ['a']),
  };
  await rejectsExactly(t, runSteps(['b', 'a', 'c'], progress, steps), { message: 'the cause' });
  t.same(log.sort(), ['a begins', 'b begins', 'b stopped']);
});

t.test('models go to MODELS_DIR without a lock in the checkout, which may be read-only', async (t) => {
  const folder = t.testdir();
  const here = fileURLToPath(new URL('.models', CHECKOUT));
  for (const name of fs.readdirSync(here, { recursive: true, encoding: 'utf8' })) {
    if (fs.statSync(path.join(here, name)).isDirectory()) fs.mkdirSync(path.join(folder, name));
    else if (!/\.(setup|voices)$|tokens/.test(name))
      fs.symlinkSync(path.join(here, name), path.join(folder, name));
  }
  process.env['MODELS_DIR'] = folder;
  t.teardown(() => delete process.env['MODELS_DIR']);
  // While somebody holds the lock of the checkout, as nobody can take it in a read-only one.
  await withLock(() => prepare(['models', 'tokens'], { run: progress.run, line: () => undefined }));
  t.strictSame(
    fs.readdirSync(folder).filter((name) => name.startsWith('.')),
    ['.setup'],
  );
});

t.test('counts: a run that wrote nothing, or nothing readable, has failed', async (t) => {
  const file = path.join(
    t.testdir({ good: '{"passed":12,"failed":1,"skipped":2}', bad: '{"passed":12' }),
    'good',
  );
  t.same(readCounts(file), { passed: 12, failed: 1 });
  t.equal(countLine(readCounts(file)), '12 passed, 1 failed');
  t.same(readCounts(file.replace(/good$/, 'bad')), { passed: 0, failed: 1 });
  t.same(readCounts(file.replace(/good$/, 'absent')), { passed: 0, failed: 1 });
});

t.test('licences: one row for each package that runs with the gateway', async (t) => {
  t.same(
    licenceRows({
      '': {},
      'node_modules/b': { version: '1.0.0', license: 'MIT' },
      'node_modules/a/node_modules/b': { version: '1.0.0', license: 'MIT' },
      'node_modules/@scope/alias': { name: '@other/name', version: '2.0.0', license: 'ISC' },
      'node_modules/tool': { version: '3.0.0', license: 'MIT', dev: true },
      'node_modules/silent': { version: '4.0.0' },
    }),
    ['| @other/name | 2.0.0 | ISC |', '| b | 1.0.0 | MIT |', '| silent | 4.0.0 | not stated |'],
  );
});

t.test('files ask for their long form by themselves, or by way of a fixture', async (t) => {
  const { testFiles } = await load<{
    testFiles(which: { long: boolean }): readonly { readonly name: string }[];
  }>('test-files.mjs');
  const long = testFiles({ long: true }).map(({ name }) => name);
  for (const name of [
    'speech/odd-audio',
    'speech/odd-texts',
    'fuzz/requests',
    'fuzz/sockets',
    'fuzz/answers',
    'fuzz/phone',
  ])
    t.ok(long.includes(`test/contract/${name}.test.ts`), name);
  t.notOk(long.includes('test/unit/ops/setup/setup.test.ts'));
});
