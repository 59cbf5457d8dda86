/** Loads the file MUTANT_FILE in place of the module MUTATED_FILE, in this process and its workers; for `--import`. */
import fs from 'node:fs';
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const { MUTATED_FILE, MUTANT_FILE } = process.env;

export async function load(url, context, next) {
  if (url !== pathToFileURL(MUTATED_FILE).href) return next(url, context);
  return { format: 'module', source: fs.readFileSync(MUTANT_FILE), shortCircuit: true };
}

if (isMainThread) register(import.meta.url);
