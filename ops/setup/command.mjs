/** The frame of every command: a failure of set-up is one clear line and exit code 1, never a bare stack. */
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { explain, SetupError } from './failure.mjs';
import { inRoot } from './paths.mjs';

export async function command(work) {
  try {
    await work();
  } catch (error) {
    console.error(`setup: ${explain(error)}`);
    process.exit(1);
  }
}

/**
 * Loads a built entry point in this very process, so that signals reach it, and calls its `main` if it exports
 * one. From here on failures are the program's own.
 */
export async function load(...place) {
  const file = inRoot('dist', ...place);
  if (!fs.existsSync(file)) throw new SetupError(`${['dist', ...place].join('/')} was not built`);
  return import(pathToFileURL(file).href);
}
