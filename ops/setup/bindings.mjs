/**
 * The packages of uWebSockets.js bring a binary for each platform and Node version, a few MB each. Once they are laid
 * out, what this platform cannot load is removed; those for other Node versions stay, so that a change of Node needs
 * no new installation.
 */
import fs from 'node:fs';
import path from 'node:path';

/** The binary interfaces (`process.versions.modules`) of the Node versions that the gateway runs on: 20, 22, 24. */
const INTERFACES = ['115', '127', '137'];

/** In the older package, beside the binaries: an imitation in JavaScript, and documentation. Neither is used. */
const UNUSED_FOLDERS = ['dist', 'docs', 'src'];

const PACKAGES = [
  { name: 'uWebSockets.js', binaries: '.', unused: [] },
  { name: 'uWebSockets.js-20.30', binaries: 'binaries', unused: UNUSED_FOLDERS },
];

const BINARY = /^uws_(\w+)_(\w+)_(\d+)\.node$/;

function fits(file, { platform, arch }) {
  const [, forPlatform, forArch, forInterface] = BINARY.exec(file) ?? [];
  return forPlatform === platform && forArch === arch && INTERFACES.includes(forInterface);
}

/** Whether npm installed the folder; a link leads to a folder that the user manages. */
const isOurs = (folder) => fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Removes them from the packages below `modules`. Missing packages are skipped. */
export function trimBindings(modules, here = process) {
  for (const { name, binaries, unused } of PACKAGES) {
    const folder = path.join(modules, name);
    if (!isOurs(folder)) continue;
    const files = fs.readdirSync(path.join(folder, binaries));
    for (const file of files.filter((file) => BINARY.test(file) && !fits(file, here)))
      fs.rmSync(path.join(folder, binaries, file));
    for (const below of unused) fs.rmSync(path.join(folder, below), { recursive: true, force: true });
  }
}
