/** The test runner itself: its results for real test files that pass, fail, crash and report nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { BUILT, CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { isAlive } from '../../fixtures/processes/family.js';
import { end } from '../../fixtures/processes/child-processes.js';
import { shortOrLong } from '../../fixtures/long.js';
import { type Ended, node, script, SETUP, setupFile } from '../../fixtures/ops/setup-programs.js';
import { until } from '../../fixtures/until.js';

t.jobs = 3;

const TAP = JSON.stringify(new URL('test/fixtures/tap.js', BUILT).href);

/** Test files: source, expected counts, exit code and message. */
const OUTCOMES: Record<string, { source: string; counts: string; code: number; said?: RegExp }> = {
  passes: {
    source: `t.test('a', async (t) => { t.ok(1); t.ok(1); }); t.ok(1);`,
    counts: '3 passed, 0 failed',
    code: 0,
  },
  fails: {
    source: `t.test('a', async (t) => { t.ok(1); t.equal(1, 2, 'numbers'); });`,
    counts: '1 passed, 1 failed',
    code: 1,
    said: /not ok fails > a > numbers \(\S*fails\.mjs:2\)[^]*-2\n\s+\+1/,
  },
  throws: {
    source: `t.test('a', async () => { throw new Error('boom'); });`,
    counts: '0 passed, 1 failed',
    code: 1,
  },
  throwsLate: {
    source: `t.test('a', () => new Promise((resolve) => {
      setTimeout(() => { throw new Error('boom'); }, 1);
      setTimeout(resolve, 100);
    }));`,
    counts: '0 passed, 2 failed',
    code: 1,
    said: /not ok throwsLate > a > boom/,
  },
  rejectsAside: {
    source: `t.test('a', () => {
      Promise.reject(new Error('boom'));
      return new Promise((resolve) => setTimeout(resolve, 100));
    });`,
    counts: '0 passed, 2 failed',
    code: 1,
    said: /not ok rejectsAside > a > boom/,
  },
  skips: {
    source: `t.ok(1); t.test('b', { skip: 'no ffmpeg' }, async () => {});`,
    counts: '1 passed, 0 failed',
    code: 0,
    said: /skipped b: no ffmpeg/,
  },
  isKilled: {
    source: `t.test('a', async (t) => { t.ok(1); }); t.test('b', async () => { process.kill(process.pid, 'SIGKILL'); });`,
    counts: '1 passed, 1 failed',
    code: 1,
    said: /killed by SIGKILL/,
  },
  leavesFiles: {
    source: `import fs from 'node:fs';
      fs.writeFileSync(process.env.TEST_FOLDER + '/left', '');
      console.error('files in ' + process.env.TEST_FOLDER);
      t.ok(1);`,
    counts: '1 passed, 0 failed',
    code: 0,
  },
  leavesEarly: {
    source: `t.test('a', async (t) => { t.ok(1); process.exit(0); });`,
    counts: '1 passed, 1 failed',
    code: 1,
  },
  leavesWithCode: {
    source: `t.ok(1); process.on('exit', () => { process.exitCode = 3; });`,
    counts: '1 passed, 1 failed',
    code: 1,
    said: /ended with code 3/,
  },
  nothing: { source: ``, counts: '0 passed, 1 failed', code: 1, said: /ran no test/ },
  runsNothing: { source: `process.exit(0);`, counts: '0 passed, 1 failed', code: 1, said: /ran no test/ },
  cannotBeRead: {
    source: `this is no JavaScript`,
    counts: '0 passed, 1 failed',
    code: 1,
    said: /ran no test/,
  },
  bailsOut: {
    source: `t.bailout('enough');`,
    counts: '0 passed, 1 failed',
    code: 1,
    said: /bailed out: enough/,
  },
};

/** Fails in its first run, as if disturbed by parallel files, and passes when it is run again. */
const FLAKY = `
  import fs from 'node:fs';
  const mark = new URL('mark', import.meta.url);
  t.ok(fs.existsSync(mark), 'not the first time');
  fs.writeFileSync(mark, '');`;
const LEAVES_A_VARIABLE = `t.equal(process.env.LEFT, undefined, 'none is left'); process.env.LEFT = 'here';`;
/** Sources of further files, by their names. */
const OTHERS: Readonly<Record<string, string>> = {
  flaky: FLAKY,
  one: LEAVES_A_VARIABLE,
  another: LEAVES_A_VARIABLE,
};

async function runFiles(
  t: Test,
  names: readonly string[],
  {
    batched = false,
    ...options
  }: { batched?: boolean; again?: number; flaky?: string[]; grep?: string } = {},
): Promise<Ended & { counts: string; countsFile: string }> {
  const sources = names.map((name) => [
    `${name}.mjs`,
    `import t from ${TAP};\n${OUTCOMES[name]?.source ?? OTHERS[name]}\n`,
  ]);
  const folder = t.testdir(Object.fromEntries(sources) as Record<string, string>);
  const countsFile = path.join(folder, 'counts.json');
  const files = names.map((name) => ({ name, file: path.join(folder, `${name}.mjs`), lane: 'others' }));
  const source = `
    const { runTests } = await import(${JSON.stringify(new URL('run-tests.mjs', SETUP).href)});
    const { batchOf } = await import(${JSON.stringify(new URL('test-batches.mjs', SETUP).href)});
    const files = ${JSON.stringify(files)};
    runTests(${batched ? "[batchOf('batch', files)]" : 'files'}, ${JSON.stringify({ places: { least: 2, most: 3 }, timeout: 60, countsFile, ...options })});`;
  const ended = await script(t, source);
  return { ...ended, counts: ended.out.trimEnd().split('\n').at(-1) ?? '', countsFile };
}

/** Files that are run alone in the short form: one that passes in part, and one that a runner could mistake for it. */
const ALONE = shortOrLong(['skips', 'runsNothing'], Object.keys(OUTCOMES));

t.test('tests: each way that a file can end is counted, reported, and part of the exit code', async (t) => {
  for (const name of ALONE) {
    const { counts, code, said } = OUTCOMES[name]!;
    const ended = await runFiles(t, [name]);
    t.equal(ended.counts, counts, `${name}: the last line`);
    t.equal(ended.code, code, `${name}: the exit code`);
    if (said) t.match(ended.out, said);
  }
});

t.test('tests: each of them is reported in a run of all, and the counts are added up', async (t) => {
  const { out, err, code, counts, countsFile } = await runFiles(t, Object.keys(OUTCOMES));
  t.equal(code, 1);
  for (const [name, { counts, code: own, said }] of Object.entries(OUTCOMES)) {
    t.match(out, `${own === 0 ? 'ok' : 'FAILED'} ${name}: ${counts.replace(', 0 failed', '')}`, name);
    if (said) t.match(out, said);
  }
  t.equal(counts, '9 passed, 13 failed');
  t.notMatch(out, /once more/, 'what failed runs a second time only where that is asked for');
  const printed = await node(t, [setupFile('print-counts.mjs'), countsFile]);
  t.equal(printed.out.trim(), counts, 'what CI reads');
  if (process.platform === 'linux')
    t.match(out, /^# \d+ s of processor time, of which\n(#   \d\.\d s \w+\n){10}/m);
  const [, folder = ''] = /files in (\S+)/.exec(err) ?? [];
  t.match(path.basename(folder), /^tests-/);
  t.notOk(fs.existsSync(folder), 'what they leave in the folder of the run is gone when it ends');
});

t.test(
  'tests: a file that fails beside others and passes alone has failed, unless it is listed',
  async (t) => {
    const twice = await runFiles(t, ['fails', 'flaky'], { again: 2 });
    exactly(t, twice, { code: 1, counts: '1 passed, 2 failed' });
    t.match(twice.out, /^FAILED flaky: 0 passed, 1 failed/m, 'its first run is told');
    t.match(twice.out, /^flaky: flaky failed beside others and passed alone: a failure/m);
    const listed = await runFiles(t, ['passes', 'flaky'], { again: 1, flaky: ['flaky'] });
    exactly(t, listed, { code: 0, counts: '4 passed, 0 failed' });
    t.match(listed.out, /^flaky: flaky failed beside others and passed alone: as test\/flaky.md says/m);
    const many = await runFiles(t, ['fails', 'flaky'], { again: 1, flaky: ['flaky'] });
    exactly(t, many, { code: 1, counts: '1 passed, 2 failed' }, 'many failures are no accident');
  },
);

t.test('tests: those of a batch are counted and named as in processes of their own', async (t) => {
  const names = ['one', 'passes', 'fails', 'throwsLate', 'skips', 'another'];
  const some = await runFiles(t, names, { batched: true });
  exactly(t, some, { code: 1, counts: '7 passed, 2 failed' }, 'each finds the variables of the first');
  t.match(some.out, /^ok passes: 3 passed /m, 'each has its own line');
  t.match(some.out, /not ok fails > a > numbers \(\S*fails\.mjs:2\)[^]*-2\n\s+\+1/);
  t.match(some.out, /not ok throwsLate > a > boom/);
  t.match(some.out, OUTCOMES['skips']?.said);
  t.match(some.out, /^# 6 files, 1 skipped$/m);
  if (process.platform === 'linux')
    t.match(some.out, /^# {3}\d\.\d s throwsLate$/m, 'each has its own costs');
  const left = await runFiles(t, ['nothing', 'passes', 'leavesEarly', 'skips'], { batched: true });
  exactly(t, left, { code: 1, out: /^FAILED nothing: 0 passed, 1 failed.*\n\s+ran no test/m });
  t.equal(left.counts, '4 passed, 4 failed', 'what is behind a file that leaves has not run');
  const flaky = await runFiles(t, ['passes', 'flaky'], { batched: true, again: 1, flaky: ['flaky'] });
  exactly(t, flaky, { code: 0, counts: '4 passed, 0 failed', out: /^flaky: flaky failed beside others/m });
});

t.test(
  'tests: the folder of a run is in memory, unless that has no room or TMPDIR names another',
  async (t) => {
    const module = JSON.stringify(new URL('test-folder.mjs', SETUP).href);
    const memory = t.testdir({ none: {} });
    const places = [
      { memory: path.join(memory, 'none'), env: {} },
      { memory: path.join(memory, 'no such folder'), env: {} },
      { memory: path.join(memory, 'none'), env: { TMPDIR: memory } },
    ];
    const source = `const { makeTestFolder } = await import(${module});
      for (const place of ${JSON.stringify(places)}) console.log(makeTestFolder(place));`;
    const { out } = await script(t, source, { TMPDIR: memory });
    const folders = out.trim().split('\n');
    t.strictSame(folders.map(path.dirname), [path.join(memory, 'none'), memory, memory]);
  },
);

t.test('tests: places in compiled code are reported as places in the sources', async (t) => {
  const { inSources } = (await import(new URL('source-places.mjs', SETUP).href)) as {
    inSources(text: string): string;
  };
  const { stack = '' } = new Error('here');
  const [, file = '', line] = /(\S+\.ts):(\d+):\d+/.exec(inSources(stack).replace('(', '')) ?? [];
  t.equal(file, 'test/contract/ops/test-runs.test.ts');
  const source = fs.readFileSync(new URL(file, CHECKOUT), 'utf8');
  t.match(source.split('\n')[Number(line) - 1], "new Error('here')");
  t.equal(inSources('at node:fs:1:2, at no/such/file.js:3:4'), 'at node:fs:1:2, at no/such/file.js:3:4');
});

/** A test file that has started a server of its own; it prints that server's process id. */
const STARTS_A_SERVER = `
  import { spawn } from 'node:child_process';
  import { endWithTests } from ${JSON.stringify(new URL('test/fixtures/processes/child-processes.js', BUILT).href)};
  const server = endWithTests(spawn('sleep', ['600']));
  console.log(server.pid);
  setInterval(() => undefined, 1000);`;

t.test('tests: a server that a test has started ends with it, by each signal that ends a run', async (t) => {
  for (const signal of shortOrLong(
    ['SIGINT', 'SIGHUP'] as const,
    ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP'] as const,
  )) {
    const test = spawn(process.execPath, ['--input-type=module', '-e', STARTS_A_SERVER]);
    t.teardown(() => end(test));
    const [line] = (await once(test.stdout, 'data')) as [Buffer];
    const server = Number(line.toString());
    t.ok(isAlive(server));
    test.kill(signal);
    const [code] = (await once(test, 'exit')) as [number];
    t.equal(code, 128 + constants.signals[signal], signal);
    await until('the server is gone', () => !isAlive(server));
  }
});

t.test('tests: a pattern picks tests inside of files', async (t) => {
  const { code, counts, out } = await runFiles(t, ['isKilled'], { grep: '/^a$/' });
  exactly(t, { code, counts }, { code: 0, counts: '1 passed, 0 failed' }, out);
});

t.test('tests: no matching file, or an unknown option, is a failure', async (t) => {
  const none = await node(t, [setupFile('test.mjs'), 'there/is/no/such/test']);
  t.equal(none.code, 1);
  t.match(none.err, 'setup: no test file matches there/is/no/such/test');
  t.equal((await node(t, [setupFile('test.mjs'), '--colour'])).code, 1);
  t.equal((await node(t, [setupFile('test.mjs'), '--jobs=0', 'setup'])).code, 1);
});
