/**
 * Test files that share a process (test-batch.mjs). To start Node and tap, and to load what many of them load, is a third of what
 * unit tests cost, and as much for tests that ask a gateway of the run.
 */
import { inRoot } from './paths.mjs';

/**
 * Which files share processes with which, and how many a process: `{ of, what, lane, most, slow }`; a file is of the first kind that
 * fits. Few are worth a process each, unless they share a gateway as well (`gateway`, of test/fixtures/conversation/conversation.ts).
 * Batches of contract tests take longer than the files that run beside them, and so come early, those with a gateway first; the
 * short unit tests fill the end of a run. Files with rooms of LiveKit dispose of the client's native library, for all of their process.
 */
const KINDS = [
  {
    of: /^test\/contract\/(conversation\/audio|gateway\/whole-gateway)\.test/,
    what: 'test/contract, speech',
    lane: 'calls',
    most: 2,
    slow: true,
    gateway: 'speech',
  },
  {
    of: /^test\/contract\/(conversation\/(conversation|ends|tools)|media\/(clients|ice-candidates)|phone\/(?!numbers).*)\.test/,
    what: 'test/contract, telephone',
    lane: 'calls',
    most: 6,
    slow: true,
    gateway: 'tones',
  },
  { of: /^test\/contract\/(?!livekit)/, what: 'test/contract, calls', lane: 'calls', most: 4, slow: true },
  { of: /^test\/contract\//, what: 'test/contract', lane: 'others', most: 9, slow: true },
  { of: /^test\/unit\//, what: 'test/unit', lane: 'others', most: 20, slow: false },
];

const kindOf = ({ name, lane, slow }) =>
  slow ? undefined : KINDS.find((kind) => kind.of.test(name) && lane === kind.lane);

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
    const sharing = runs.filter((run) => kindOf(run) === kind);
    if (sharing.length <= (kind.gateway ? 1 : kind.most)) return runs;
    const others = runs.filter((run) => !sharing.includes(run));
    const batches = batchesOf(sharing, kind);
    return kind.gateway ? [...batches, ...others] : [...others, ...batches];
  }, files);
}
