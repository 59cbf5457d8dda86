/**
 * Models that running gateways may still read: each keeps a file with their names, and touches it (gateway/wiring/model-holds.ts).
 * The files of a removed model go once nobody holds it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { holdsDir, readJson } from './places.mjs';

/** A gateway touches its file every ten seconds. */
const STALE_MS = 60_000;

const isFresh = (file) =>
  Date.now() - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < STALE_MS;

/** The names in a file; none in one that is not whole. */
function namesIn(file) {
  try {
    return readJson(file) ?? [];
  } catch {
    return [];
  }
}

/** The names of the models that somebody holds. Files of gateways that were killed are removed. */
export function heldModels() {
  const folder = holdsDir();
  const files = fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => path.join(folder, name)) : [];
  for (const file of files) if (!isFresh(file)) fs.rmSync(file, { force: true });
  return new Set(files.filter(isFresh).flatMap(namesIn));
}
