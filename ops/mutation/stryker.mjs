/** Stryker over one source: everything that it changes but numbers (numbers.mjs). */
import fs from 'node:fs';
import path from 'node:path';
import { runChild } from '../setup/children.mjs';
import { SetupError } from '../setup/failure.mjs';
import { inRoot, ROOT } from '../setup/paths.mjs';

const FOLDER = inRoot('.tap', 'mutation');
const PACKAGES = inRoot('ops', 'mutation', 'node_modules', '@stryker-mutator');

/** Folders that no unit test reads. Stryker copies everything else, and works in the copy. */
const NOT_COPIED = [
  '.models',
  '.tap',
  'bench',
  'client',
  'data',
  'examples',
  // A lock comes and goes.
  'ops/setup/.state',
  'test/acceptance',
  'test/contract',
];

const configuration = (file, tests, jobs, report) => ({
  mutate: [file],
  // In the checkout, so that packages are found.
  tempDirName: '.tap/mutation/sandboxes',
  cleanTempDir: 'always',
  ignorePatterns: NOT_COPIED.map((folder) => `/${folder}`),
  symlinkNodeModules: false,
  disableTypeChecks: false,
  // Ours says nothing that depends on its place, and our TypeScript has none of the functions that would rewrite it.
  tsconfigFile: 'none',
  // It is split at blanks, by no shell.
  buildCommand: `node ${inRoot('ops', 'mutation', 'build.mjs').replaceAll(' ', '\\ ')} ${file}`,
  plugins: [path.join(PACKAGES, 'tap-runner', 'dist', 'src', 'index.js')],
  testRunner: 'tap',
  tap: { testFiles: tests },
  coverageAnalysis: 'perTest',
  concurrency: jobs,
  // A mutant that takes longer counts as killed, and a busy machine is slow.
  timeoutMS: 60_000,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: report },
  logLevel: 'warn',
});

/** How far it is, every ten seconds. */
const onLine = (line) => {
  if (line.startsWith('Mutation testing')) console.error(line);
};

/** The mutants of `file`, as in mutation-testing-report-schema. Throws SetupError where the tests fail without any. */
export async function strykerMutants(file, tests, jobs) {
  fs.mkdirSync(FOLDER, { recursive: true });
  const [config, report] = ['stryker.json', 'report.json'].map((name) => path.join(FOLDER, name));
  fs.rmSync(report, { force: true });
  fs.writeFileSync(config, JSON.stringify(configuration(file, tests, jobs, path.relative(ROOT, report))));
  const args = [path.join(PACKAGES, 'core', 'bin', 'stryker.js'), 'run', config];
  const { code, output } = await runChild(process.execPath, args, { cwd: ROOT, onLine });
  if (code !== 0 || !fs.existsSync(report)) throw new SetupError(`${file}: ${output.join('\n')}`);
  return JSON.parse(fs.readFileSync(report, 'utf8')).files[file]?.mutants ?? [];
}
