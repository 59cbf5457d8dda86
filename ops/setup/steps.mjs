/**
 * The steps of set-up as a table, and the order in which they run: each as soon as those it needs are done,
 * side by side where it can. `ready` is quick and looks only; `run` does the work and leaves `ready` true.
 */
import { build, buildReady } from './build.mjs';
import { fetchModels, modelsReady } from './models.mjs';
import { installPackages, packagesReady } from './packages.mjs';
import { inRoot, ROOT } from './paths.mjs';
import { linkPostgres, postgresReady } from './postgres-links.mjs';
import { tokensReady, writeTokens } from './tokens.mjs';

const ACCEPTANCE = inRoot('test', 'acceptance');

export const STEPS = {
  packages: {
    needs: [],
    ready: () => packagesReady(ROOT),
    run: (context) => installPackages(ROOT, context),
  },
  models: { needs: [], ready: () => modelsReady(), run: (context) => fetchModels(context) },
  postgres: { needs: ['packages'], ready: () => postgresReady(), run: () => linkPostgres() },
  tokens: { needs: ['packages'], ready: () => tokensReady(), run: () => writeTokens() },
  build: { needs: ['packages'], ready: () => buildReady(), run: (context) => build(context) },
  acceptance: {
    needs: ['packages'],
    ready: () => packagesReady(ACCEPTANCE),
    run: (context) => installPackages(ACCEPTANCE, context),
  },
};

export const allReady = (names, steps = STEPS) => names.every((name) => steps[name].ready());

/**
 * Runs the named steps that are not ready. The first failure aborts the others and is thrown when they
 * have ended. A step whose needs are not named runs without them.
 */
export async function runSteps(names, progress, steps = STEPS) {
  const abort = new AbortController();
  const started = new Map();

  async function runOne(name) {
    await Promise.all(steps[name].needs.filter((need) => names.includes(need)).map(begin));
    abort.signal.throwIfAborted();
    if (!steps[name].ready())
      await progress.run(name, (note) => steps[name].run({ note, signal: abort.signal }));
  }
  function begin(name) {
    if (!started.has(name)) started.set(name, runOne(name));
    return started.get(name);
  }

  let failure;
  const failed = (error) => {
    failure ??= error;
    abort.abort(error);
  };
  await Promise.all(names.map((name) => begin(name).catch(failed)));
  if (failure) throw failure;
}
