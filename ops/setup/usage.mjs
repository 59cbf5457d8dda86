/** Processor time of the processes of a test run, as each tells it at its end (usage-preload.mjs). */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { writeAtomically } from './stamps.mjs';

const PRELOAD = new URL('usage-preload.mjs', import.meta.url).href;
/** So many of the costliest are told of. */
const TOLD = 10;

export function createUsage() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'usage-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const seconds = new Map();
  const fileOf = (name) => path.join(folder, name.replaceAll('/', '-'));
  const costliest = () => [...seconds].sort(([, one], [, other]) => other - one);
  return {
    /** Arguments of Node and variables of the process that is counted under this name. */
    of: (name) => ({ args: ['--import', PRELOAD], env: { TEST_USAGE_FILE: fileOf(name) } }),
    /** It has ended; one that was killed, and one on another system, has told nothing. */
    ended(name) {
      const file = fileOf(name);
      if (!fs.existsSync(file)) return;
      const { parts, rest } = JSON.parse(fs.readFileSync(file, 'utf8'));
      for (const [part, own] of [...Object.entries(parts), [name, rest]]) seconds.set(part, own);
    },
    /** The seconds of all, and a line for each of the costliest; none where nothing was told. */
    lines() {
      const all = costliest();
      if (all.length === 0) return [];
      const sum = all.reduce((total, [, own]) => total + own, 0);
      const told = all.slice(0, TOLD).map(([name, own]) => `#   ${own.toFixed(1)} s ${name}`);
      return [`# ${sum.toFixed(0)} s of processor time, of which`, ...told];
    },
    /** The seconds of each, as JSON. */
    write: (file) => writeAtomically(file, `${JSON.stringify(Object.fromEntries(costliest()), null, 2)}\n`),
  };
}
