/**
 * Brings the checkout or the installed package to where commands can run: packages, links, models, build. Everything that start, test,
 * bench, keys and check begin with. A no-op that takes no lock when all is ready.
 */
import './node-version.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { withLock } from './lock.mjs';
import { inRoot, IS_INSTALLED, LOCK_FILE, modelsDir } from './paths.mjs';
import { createProgress } from './progress.mjs';
import { isSealed } from './sealed.mjs';
import { allReady, runSteps, stepsHere } from './steps.mjs';

/** Steps before the gateway can run. */
export const RUNNING = ['packages', 'extras', 'models', 'voices', 'postgres', 'tokens', 'product'];

/** Steps before the gateway's own code can be loaded. */
export const LOADING = ['packages', 'product'];

/** Steps before sources can be linted and formatted. */
export const LOOKING = ['all packages', 'bench'];

/** Steps before benchmarks, and everything else that is compiled, can run. */
export const COMPILED = [
  'all packages',
  'models',
  'voices',
  'postgres',
  'tokens',
  'bench',
  'product',
  'build',
];

/** Steps before tests can run: the clients that acceptance tests use are a package of their own. */
export const testing = () =>
  fs.existsSync(inRoot('test', 'acceptance', 'package-lock.json')) ? [...COMPILED, 'acceptance'] : COMPILED;

/** Steps before mutation testing: Stryker is a package of its own. */
export const MUTATING = ['all packages', 'bench', 'build', 'mutation'];

/** Steps before the documentation site can be built: VitePress is a package of its own. */
export const SITE = ['site'];

/** Steps that write to MODELS_DIR alone, which may be a volume, and the checkout read-only. So is the folder of an installed package. */
const INTO_MODELS = ['models', 'voices', 'tokens'];

const lockFor = (missing) =>
  IS_INSTALLED || missing.every((name) => INTO_MODELS.includes(name))
    ? path.join(modelsDir(), '.lock')
    : LOCK_FILE;

/** Makes the named steps ready. Throws SetupError. */
export async function prepare(names = RUNNING, progress = createProgress()) {
  const here = stepsHere(names);
  const wanted = isSealed() ? here.filter((name) => INTO_MODELS.includes(name)) : here;
  const missing = wanted.filter((name) => !allReady([name]));
  if (missing.length === 0) return;
  const onWait = ({ pid }) => progress.line(`waiting for another set-up (process ${pid})`);
  await withLock(() => runSteps(wanted, progress), { onWait, file: lockFor(missing) });
}
