/**
 * Paths of the checkout, or of the installed package. What set-up makes in a checkout is in node_modules, dist, bundle, .models and
 * ops/setup/.state; for an installed package, whose folder npm replaces with each version, in the user's own folder.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A path inside the checkout. */
export const inRoot = (...parts) => path.join(ROOT, ...parts);

/** Whether npm has installed this as a package, in a folder node_modules; else it is a checkout. contracts/places.ts looks the same way. */
export const isInstalled = (root) => /\/node_modules\/(?:@[^/]+\/)?[^/]+\/$/.test(root);

export const IS_INSTALLED = isInstalled(ROOT);

/** The folder of an installed package's user: `$XDG_DATA_HOME/speech-gateway`, or `~/.local/share/speech-gateway`. */
export function userFolder(env = process.env, home = os.homedir()) {
  const { XDG_DATA_HOME: data = '' } = env;
  return path.join(path.isAbsolute(data) ? data : path.join(home, '.local', 'share'), 'speech-gateway');
}

/** The model files; MODELS_DIR moves them, for instance to a volume. */
export const modelsDir = () => path.resolve(process.env.MODELS_DIR || inRoot('.models'));

const require = createRequire(import.meta.url);

/** The folder of a package that came with us: npm puts it into our node_modules, or into one above. undefined: it is not there. */
export const packageFolder = (name) =>
  require.resolve
    .paths(name)
    .map((modules) => path.join(modules, ...name.split('/')))
    .find((folder) => fs.existsSync(folder));

export const LOCK_FILE = inRoot('ops', 'setup', '.state', 'lock');

/** The counts of the last run of the tests; of one on another version of Node in a file of its own. */
export const countsFile = (node) =>
  inRoot('.tap', node === undefined ? 'counts.json' : `counts-node-${node}.json`);
