/**
 * Brings the checkout to where commands can run: packages, links, models, build. Everything that start, test,
 * bench, keys and check begin with. A no-op that takes no lock when all is ready.
 */
import './node-version.mjs';
import fs from 'node:fs';
import { withLock } from './lock.mjs';
import { inRoot } from './paths.mjs';
import { createProgress } from './progress.mjs';
import { allReady, runSteps } from './steps.mjs';

/** What it takes to run the gateway. */
export const RUNNING = ['packages', 'models', 'postgres', 'tokens', 'build'];

/** What it takes to look at the sources. */
export const LOOKING = ['packages'];

/** What it takes to test: the clients that acceptance tests use are a package of their own. */
export const testing = () =>
  fs.existsSync(inRoot('test', 'acceptance', 'package-lock.json')) ? [...RUNNING, 'acceptance'] : RUNNING;

/** Makes the named steps ready. Throws SetupError. */
export async function prepare(names = RUNNING, progress = createProgress()) {
  if (allReady(names)) return;
  const onWait = ({ pid }) => progress.line(`waiting for another set-up (process ${pid})`);
  await withLock(() => runSteps(names, progress), { onWait });
}
