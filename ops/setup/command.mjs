/** Wraps every command: a failure of set-up is one clear line and exit code 1, never a bare stack. */
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { explain, SetupError } from './failure.mjs';
import { inRoot } from './paths.mjs';

export async function command(work) {
  try {
    return await work();
  } catch (error) {
    console.error(`setup: ${explain(error)}`);
    process.exit(1);
  }
}

/** The address of a built file, to be imported into this very process, so that signals reach it. */
export function built(...place) {
  const file = inRoot(...place);
  if (!fs.existsSync(file)) throw new SetupError(`${place.join('/')} was not built`);
  return pathToFileURL(file).href;
}
