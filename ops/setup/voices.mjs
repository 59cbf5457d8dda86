/**
 * The voices of the engine `pico`, out of the model catalogue, as `npm run models -- add pico` puts them in place. They are
 * asked for once: where they cannot be had, set-up says so in a line and goes on, and eSpeak speaks in their place. Whoever
 * removes them keeps them removed.
 */
import fs from 'node:fs';
import path from 'node:path';
import { commandLine } from '../commands/words.mjs';
import { entryOf } from '../models/catalogue.mjs';
import { install } from '../models/install.mjs';
import { lockFile, manifestOf } from '../models/places.mjs';
import { withLock } from './lock.mjs';
import { modelsDir } from './paths.mjs';
import { hasStamp, keyOf, writeStamp } from './stamps.mjs';

const NAME = 'pico';
/** An index that does not answer holds up nobody for longer. */
const PATIENCE_MS = 20_000;

const stampFile = () => path.join(modelsDir(), '.voices');
const voicesKey = () => keyOf(JSON.stringify(entryOf(NAME)));

/** Models that came with a folder which is not ours to write. */
function isReadOnly(folder) {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return false;
  } catch (error) {
    return error.code !== 'ENOENT';
  }
}

export const voicesReady = () =>
  manifestOf(NAME) !== undefined || hasStamp(stampFile(), voicesKey()) || isReadOnly(modelsDir());

const add = (context) => {
  const entry = entryOf(NAME);
  return withLock(() => install(entry, entry.sources, context), { file: lockFile() });
};

/** Fetches them. Never fails, but where set-up is aborted. */
export async function fetchVoices({
  note = () => {},
  say = () => {},
  signal,
  patienceMs = PATIENCE_MS,
} = {}) {
  const patience = AbortSignal.timeout(patienceMs);
  const both = signal ? AbortSignal.any([signal, patience]) : patience;
  try {
    await add({ note, say, signal: both });
  } catch (error) {
    signal?.throwIfAborted();
    const [line] = error.message.split('\n');
    const reason = patience.aborted ? `nothing came within ${patienceMs / 1000} s` : line;
    say(
      `voices: ${reason}; eSpeak speaks German, Spanish and French until ${commandLine('models', 'add pico')}`,
    );
  }
  writeStamp(stampFile(), voicesKey());
}
