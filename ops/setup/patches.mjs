/**
 * Packages with repairs that no release has yet, as patches that one can read: ops/patches/PACKAGE@VERSION.patch. What npm
 * installs stays as it is: the repaired files are in the bundle (bundle.mjs), and beside the compiled tests (transpile.mjs).
 */
import fs from 'node:fs';
import path from 'node:path';
import { applyPatch, parsePatch } from 'diff';
import { inRoot } from './paths.mjs';

const FOLDER = inRoot('ops', 'patches');
const PACKAGE = /^(?<name>.+)@(?<version>[^@]+)\.patch$/;

const nameIn = (line) => line.replace(/^a\//, '');

function apply(file, patch, from) {
  const repaired = applyPatch(fs.readFileSync(file, 'utf8'), patch, { fuzzFactor: 0 });
  if (repaired === false) throw new Error(`${from} does not fit ${file}`);
  return repaired;
}

/** One package: its name, its folder, and the text of each repaired file by its place in that folder. */
function patched(patchFile) {
  const { name, version } = PACKAGE.exec(patchFile).groups;
  const folder = inRoot('node_modules', ...name.split('/'));
  const installed = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version;
  if (installed !== version)
    throw new Error(`${patchFile} is not for ${name} ${installed}: review it, and rename it`);
  const patches = parsePatch(fs.readFileSync(path.join(FOLDER, patchFile), 'utf8'));
  const files = patches.map((patch) => {
    const place = nameIn(patch.oldFileName);
    return [place, apply(path.join(folder, place), patch, patchFile)];
  });
  return { name, folder, files: new Map(files) };
}

/** All packages that have a patch. Throws where one does not fit. */
export const patchedPackages = () =>
  fs
    .readdirSync(FOLDER)
    .filter((file) => PACKAGE.test(file))
    .sort()
    .map(patched);

/** Copies the packages to `modules`, a folder that Node looks into before ours and that holds nothing else, with their files repaired. */
export function writePatched(modules) {
  fs.rmSync(modules, { recursive: true, force: true });
  for (const { name, folder, files } of patchedPackages()) {
    const copy = path.join(modules, ...name.split('/'));
    fs.cpSync(folder, copy, { recursive: true });
    for (const [place, text] of files) fs.writeFileSync(path.join(copy, place), text);
  }
}

/** For esbuild: bundles the repaired files. */
export const patchPlugin = {
  name: 'patches',
  setup: ({ onLoad }) => {
    const repaired = new Map(
      patchedPackages().flatMap(({ folder, files }) =>
        [...files].map(([place, contents]) => [path.join(folder, place), contents]),
      ),
    );
    onLoad({ filter: /[\\/]node_modules[\\/]/ }, ({ path: file }) =>
      repaired.has(file) ? { contents: repaired.get(file), loader: 'js' } : undefined,
    );
  },
};
