/**
 * Test files that share a process (test-batch.mjs). To start Node and tap, and to load what many of them load, is a third of what
 * unit tests cost, and as much for tests that ask a gateway of the run.
 */
import { inRoot } from './paths.mjs';

/**
 * Which files share processes with which, and how many a process. Few are worth a process each. Batches of contract tests take
 * longer than the files that run beside them, and so come early; the short unit tests fill the end of a run.
 */
const KINDS = [
  { folder: 'test/unit', most: 20, slow: false },
  { folder: 'test/contract', most: 9, slow: true },
];

const isOf = ({ folder }, { name, lane, slow }) =>
  name.startsWith(`${folder}/`) && lane === 'others' && !slow;

export const batchOf = (name, files, slow = false) => ({
  name,
  file: inRoot('ops', 'setup', 'test-batch.mjs'),
  env: { TEST_BATCH: JSON.stringify(files.map(({ name, file }) => ({ name, file }))) },
  files,
  lane: 'others',
  slow,
});

/** The files of what is run, which are files and batches. */
export const filesOf = (runs) => runs.flatMap((run) => run.files ?? [run]);

/** Files that are neighbours by name, as those of one concern, are in different batches, which so cost alike. */
function batchesOf(files, { folder, most, slow }) {
  const count = Math.ceil(files.length / most);
  return Array.from({ length: count }, (_, batch) =>
    batchOf(
      `${folder}, part ${batch + 1} of ${count}`,
      files.filter((_file, index) => index % count === batch),
      slow,
    ),
  );
}

/**
 * What to run for these test files (`{ name, file, lane, slow }`), each in a process: the files themselves, and batches, which have
 * `files` and the variables `env` besides.
 */
export function inBatches(files) {
  return KINDS.reduce((runs, kind) => {
    const sharing = runs.filter((file) => isOf(kind, file));
    if (sharing.length <= kind.most) return runs;
    return [...runs.filter((file) => !isOf(kind, file)), ...batchesOf(sharing, kind)];
  }, files);
}
