/** Whether a model's files are still what was put in place. */
import fs from 'node:fs';
import path from 'node:path';
import { digestOf } from './digest.mjs';
import { manifestOf, modelDir } from './places.mjs';

async function faultOf(folder, { path: name, bytes, sha256 }) {
  const file = path.join(folder, name);
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return `${name} is missing`;
  if (size !== bytes) return `${name} has ${size} bytes instead of ${bytes}`;
  return (await digestOf(file)) === sha256 ? undefined : `${name} has other content`;
}

/** The faults of the model's files, a line each; undefined if the model is not in place. */
export async function faultsOf(name) {
  const manifest = manifestOf(name);
  if (!manifest) return undefined;
  const faults = [];
  for (const file of manifest.files) faults.push(await faultOf(modelDir(name), file));
  return faults.filter(Boolean);
}
