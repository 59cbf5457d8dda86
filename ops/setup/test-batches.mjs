/**
 * Test files that share a process (test-batch.mjs). Unit tests are half of the files of a whole run: to start Node and tap, and to load
 * what many of them load, is a third of what they cost.
 */
import { inRoot } from './paths.mjs';

/** What one batch holds at most; few files are worth a process each. */
const FILES = 20;

const sharesProcess = ({ name }) => name.startsWith('test/unit/');

export const batchOf = (name, files) => ({
  name,
  file: inRoot('ops', 'setup', 'test-batch.mjs'),
  env: { TEST_BATCH: JSON.stringify(files.map(({ name, file }) => ({ name, file }))) },
  files,
  lane: 'others',
  slow: false,
});

/**
 * What to run for these test files (`{ name, file, lane, slow }`), each in a process: the files themselves, and batches, which have
 * `files` and the variables `env` besides. Files that are neighbours by name, as those of one concern, are in different batches, which so cost alike.
 */
export function inBatches(files) {
  const sharing = files.filter(sharesProcess);
  if (sharing.length <= FILES) return files;
  const count = Math.ceil(sharing.length / FILES);
  const batches = Array.from({ length: count }, (_, batch) =>
    batchOf(
      `test/unit, part ${batch + 1} of ${count}`,
      sharing.filter((_file, index) => index % count === batch),
    ),
  );
  return [...files.filter((file) => !sharesProcess(file)), ...batches];
}
