/**
 * Removes the files of packages that nothing here loads, once they are laid out: a third of what npm unpacks. Nothing
 * is changed within a file, and `npm ci` brings it all back.
 */
import fs from 'node:fs';
import path from 'node:path';
import { trimBindings } from './bindings.mjs';

/** Folders below a package: tests, demonstrations, reports. */
const UNUSED_FOLDERS = {
  bintrees: ['test'],
  'fluent-ffmpeg': ['coverage', 'doc', 'tools'],
  kuromoji: ['demo', 'example', 'test'],
};

/** Maps to sources, for debuggers; `--enable-source-maps` is for our own. */
const SOURCE_MAP = /\.map$/;

function removeFiles(folder, pattern) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) removeFiles(file, pattern);
    else if (pattern.test(entry.name)) fs.rmSync(file);
  }
}

/** Trims the packages below `modules`, a node_modules folder. Does nothing the second time. */
export function trimPackages(modules) {
  if (!fs.existsSync(modules)) return;
  trimBindings(modules);
  for (const [name, folders] of Object.entries(UNUSED_FOLDERS))
    for (const below of folders) fs.rmSync(path.join(modules, name, below), { recursive: true, force: true });
  removeFiles(modules, SOURCE_MAP);
}
