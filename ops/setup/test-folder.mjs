/**
 * The folder of a test run, in which its tests make theirs (test/fixtures/folders.ts): in memory, where there is room. Each gateway
 * of a test has a copy of a database, some hundred files, and on a disk whose file system keeps a journal one costs ten times the
 * processor time. Removed when the run ends, with what a test that was killed has left behind.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A file system in memory, which Linux has. Containers often have one of 64 MiB. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 2 * 2 ** 30;

function hasRoom(folder) {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    const { bavail, bsize } = fs.statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** A process that has not ended yet may still write there, which must not change the exit code of the run. */
function remove(folder) {
  try {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (error.code !== 'ENOTEMPTY') throw error;
  }
}

/** Makes it. TMPDIR has the last word. */
export function makeTestFolder({ memory = MEMORY, env = process.env } = {}) {
  const parent = env.TMPDIR || !hasRoom(memory) ? os.tmpdir() : memory;
  const folder = fs.mkdtempSync(path.join(parent, 'tests-'));
  // Others may pass through: as root, Postgres runs as another user.
  fs.chmodSync(folder, 0o711);
  process.once('exit', () => remove(folder));
  return folder;
}
