/**
 * Preload of a test file (usage.mjs): when its process ends, it leaves in TEST_USAGE_FILE the seconds of processor time that it and
 * its children used, and theirs, so far as each was waited for. Linux alone counts them: see utime, stime, cutime and cstime
 * in proc(5). Several files in one process (test-batch.mjs) are told apart.
 */
import fs from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const STAT = '/proc/self/stat';
/** The clock ticks in which /proc counts: USER_HZ. */
const TICKS_PER_SECOND = 100;

function secondsOf(stat) {
  // The second field, in brackets, may hold blanks: behind it are the fields from the third on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

const secondsSoFar = () => (fs.existsSync(STAT) ? secondsOf(fs.readFileSync(STAT, 'utf8')) : 0);

/** Name of a file → its seconds. */
const parts = {};
let counted = 0;

/** What was used since the last call, or the start, was used by the file of this name. */
export function countPart(name) {
  const seconds = secondsSoFar();
  parts[name] = seconds - counted;
  counted = seconds;
}

/** A test does not fail because nobody wants the figure any more. */
function leave(file) {
  try {
    fs.writeFileSync(file, JSON.stringify({ parts, rest: secondsSoFar() - counted }));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

const file = process.env.TEST_USAGE_FILE;
// Includes the usage of its children.
delete process.env.TEST_USAGE_FILE;
if (file && isMainThread && fs.existsSync(STAT)) process.once('exit', () => leave(file));
