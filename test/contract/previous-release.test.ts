/** During an upgrade machine by machine the previous release runs on today's schema: its own tests pass there. */
import t from 'tap';
import { shortOrLong } from '../fixtures/long.js';
import { noPreviousRelease, previousRelease } from '../fixtures/previous-release.js';

/**
 * Beginnings of the names of tests that read and write most tables, the last through a gateway; in the long form all tests of the
 * agent platform, through its routes. Not `keys-and-workspaces`, which wants a row in every table, and knows those of its time.
 */
const PREFIXES = shortOrLong(
  ['storage.test', 'platform-session-runs.test', 'agent-test-queue.test', 'platform-versions.test'],
  ['storage', 'platform-', 'client-secrets', 'protocol-b-library'],
);
t.setTimeout(shortOrLong(300_000, 1_200_000));

t.test('the previous release runs on the schema of today', { skip: noPreviousRelease() }, async (t) => {
  const release = previousRelease(t, PREFIXES);
  t.ok(release.tests.length >= PREFIXES.length);
  const runs = shortOrLong(
    [release.tests],
    release.tests.map((test) => [test]),
  );
  for (const tests of runs) t.equal(await release.failureOf(tests), undefined, tests.join(', '));
});
