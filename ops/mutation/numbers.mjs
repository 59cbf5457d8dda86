/**
 * Numbers, which Stryker leaves alone: each literal n of a source becomes n + 1, one at a time, and its tests are run
 * against it (load-mutant.mjs). The mutants are told in Stryker's form.
 */
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { runChild } from '../setup/children.mjs';
import { SetupError } from '../setup/failure.mjs';
import { inRoot, ROOT } from '../setup/paths.mjs';

const FOLDER = inRoot('.tap', 'mutation');
const LOADER = inRoot('ops', 'mutation', 'load-mutant.mjs');
const TIMEOUT_MS = 60_000;

/** The numbers of a source, each with what takes its place. Those of types have no effect, and are left out. */
export function numbersOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  (function visit(node) {
    if (ts.isTypeNode(node)) return;
    if (ts.isNumericLiteral(node)) {
      const { line, character } = source.getLineAndCharacterOfPosition(node.getStart());
      const location = { start: { line: line + 1, column: character + 1 } };
      found.push({
        from: node.getStart(),
        to: node.end,
        replacement: String(Number(node.text) + 1),
        location,
      });
    }
    ts.forEachChild(node, visit);
  })(source);
  return found;
}

const COMPILER = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
const transpiled = (file, text) =>
  ts.transpileModule(text, { fileName: file, compilerOptions: COMPILER }).outputText;

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
  fs.writeFileSync(mutant, transpiled(file, text));
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
