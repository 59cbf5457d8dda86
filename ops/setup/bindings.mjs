/**
 * The package of uWebSockets.js brings a binary for each platform and Node version, a few MB each. Once it is laid
 * out, what this platform cannot load is removed; those for other Node versions stay, so that a change of Node needs
 * no new installation.
 */
import fs from 'node:fs';
import path from 'node:path';

/** The binary interfaces (`process.versions.modules`) of the Node versions that the gateway runs on: 20, 22, 24. */
export const INTERFACES = ['115', '127', '137'];

const BINARY = /^uws_(\w+)_(\w+)_(\d+)\.node$/;

function fits(file, { platform, arch }, interfaces) {
  const [, forPlatform, forArch, forInterface] = BINARY.exec(file) ?? [];
  return forPlatform === platform && forArch === arch && interfaces.includes(forInterface);
}

/** Whether npm installed the folder; a link leads to a folder that the user manages. */
const isOurs = (folder) => fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Removes them from the package below `modules`. A missing package is skipped. */
export function trimBindings(modules, here = process, interfaces = INTERFACES) {
  const folder = path.join(modules, 'uWebSockets.js');
  if (!isOurs(folder)) return;
  for (const file of fs
    .readdirSync(folder)
    .filter((file) => BINARY.test(file) && !fits(file, here, interfaces)))
    fs.rmSync(path.join(folder, file));
}
