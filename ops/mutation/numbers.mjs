/**
 * Numbers, which Stryker leaves alone: each literal n of a source becomes n + 1, one at a time, and its tests are run
 * against it (load-mutant.mjs). The mutants are told in Stryker's form.
 */
import fs from 'node:fs';
import path from 'node:path';
import { transform } from 'esbuild';
import { runChild } from '../setup/children.mjs';
import { SetupError } from '../setup/failure.mjs';
import { inRoot, ROOT } from '../setup/paths.mjs';
import { lineAt, nodesOf } from '../setup/syntax.mjs';

const FOLDER = inRoot('.tap', 'mutation');
const LOADER = inRoot('ops', 'mutation', 'load-mutant.mjs');
const TIMEOUT_MS = 60_000;

/** A literal within a type is below one of these, whatever else the type is made of. */
const isOfTypes = ({ type }) => type === 'TSLiteralType';
const isNumber = ({ type, value }) => type === 'Literal' && typeof value === 'number';

/** The numbers of a source, each with what takes its place. Those of types have no effect, and are left out. */
export const numbersOf = (file, text) =>
  nodesOf(file, text, isOfTypes)
    .filter(isNumber)
    .map(({ start, end, value }) => ({
      from: start,
      to: end,
      replacement: String(value + 1),
      location: { start: { line: lineAt(text, start), column: start - text.lastIndexOf('\n', start - 1) } },
    }));

const transpiled = async (text) => (await transform(text, { loader: 'ts', target: 'node20' })).code;

/** The outcome of a test; undefined where it passes. */
async function killed(test, built, mutant) {
  const env = { ...process.env, MUTATED_FILE: built, MUTANT_FILE: mutant };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const { code } = await runChild(process.execPath, ['--import', LOADER, test], { cwd: ROOT, env, signal });
    return code === 0 ? undefined : 'Killed';
  } catch (error) {
    if (signal.aborted) return 'Timeout';
    throw error;
  }
}

/** `Killed`, `Timeout` or `Survived`; the tests are run until one fails. */
async function statusOf(file, text, tests) {
  const mutant = path.join(FOLDER, 'mutant.mjs');
  fs.mkdirSync(FOLDER, { recursive: true });
  fs.writeFileSync(mutant, await transpiled(text));
  const built = inRoot('dist', file.replace(/\.ts$/, '.js'));
  for (const test of tests) {
    const status = await killed(test, built, mutant);
    if (status) return status;
  }
  return 'Survived';
}

/** The mutants of `file`. Throws SetupError where the tests fail without any. */
export async function numberMutants(file, tests) {
  const text = fs.readFileSync(inRoot(file), 'utf8');
  const literals = numbersOf(file, text);
  if (literals.length > 0 && (await statusOf(file, text, tests)) !== 'Survived')
    throw new SetupError(`${file}: its tests fail as it is`);
  const mutants = [];
  for (const { from, to, replacement, location } of literals) {
    const mutated = `${text.slice(0, from)}${replacement}${text.slice(to)}`;
    const status = await statusOf(file, mutated, tests);
    mutants.push({
      mutatorName: 'NumericLiteral',
      location,
      original: text.slice(from, to),
      replacement,
      status,
    });
  }
  return mutants;
}
