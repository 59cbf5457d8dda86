/**
 * Test files that share a process (test-batch.mjs). To start Node and tap, and to load what many of them load, is a third of what
 * unit tests cost, and as much for tests that ask a gateway of the run.
 */
import { inRoot } from './paths.mjs';

/**
 * Which files share processes with which, and how many a process: `{ of, what, lane, most, slow }`. Few are worth a process each.
 * Batches of contract tests take longer than the files that run beside them, and so come early; the short unit tests fill the end of a
 * run. Files with rooms of LiveKit dispose of the client's native library, for all of their process.
 */
const KINDS = [
  { of: /^test\/unit\//, what: 'test/unit', lane: 'others', most: 20, slow: false },
  { of: /^test\/contract\//, what: 'test/contract', lane: 'others', most: 9, slow: true },
  { of: /^test\/contract\/(?!livekit)/, what: 'test/contract, calls', lane: 'calls', most: 4, slow: true },
];

const isOf = (kind, { name, lane, slow }) => kind.of.test(name) && lane === kind.lane && !slow;

export const batchOf = (name, files, { lane, slow } = { lane: 'others', slow: false }) => ({
  name,
  file: inRoot('ops', 'setup', 'test-batch.mjs'),
  env: { TEST_BATCH: JSON.stringify(files.map(({ name, file }) => ({ name, file }))) },
  files,
  lane,
  slow,
});

/** The files of what is run, which are files and batches. */
export const filesOf = (runs) => runs.flatMap((run) => run.files ?? [run]);

/** Files that are neighbours by name, as those of one concern, are in different batches, which so cost alike. */
function batchesOf(files, kind) {
  const count = Math.ceil(files.length / kind.most);
  return Array.from({ length: count }, (_, batch) =>
    batchOf(
      `${kind.what}, part ${batch + 1} of ${count}`,
      files.filter((_file, index) => index % count === batch),
      kind,
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
