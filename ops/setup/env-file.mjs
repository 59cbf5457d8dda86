/**
 * Settings in a file: `.env` in the working directory, `NAME=value` a line. Variables of the environment win.
 * Read before set-up, some steps of which have settings of their own (MODELS_DIR).
 */
import fs from 'node:fs';
import util from 'node:util';
import { SetupError } from './failure.mjs';

const NAME = '.env';

function read(file) {
  try {
    // Some editors write a byte order mark, which would be part of the first name.
    return fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw new SetupError(`${file} cannot be read (${error.code})`, { cause: error });
  }
}

/** Adds the file's variables to `env`. Returns the names that stand in the file. Throws SetupError. */
export function loadEnvFile({ file = NAME, env = process.env, parse = util.parseEnv } = {}) {
  const text = read(file);
  if (text === undefined) return [];
  if (!parse) throw new SetupError(`${file} needs Node 20.12 or newer; this is ${process.version}`);
  const values = parse(text);
  for (const [name, value] of Object.entries(values)) env[name] ??= value;
  return Object.keys(values);
}
