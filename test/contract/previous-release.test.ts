/** Machines are upgraded one after the other: the previous release's own tests pass on the schema of today. */
import t from 'tap';
import { shortOrLong } from '../fixtures/long.js';
import { noPreviousRelease, previousRelease } from '../fixtures/previous-release.js';

/** Whoever reads and writes most tables; in the long form all of the agent platform, through its routes. */
const TESTS = shortOrLong(
  ['storage.test', 'platform-session-runs.test', 'platform-sessions-lists.test', 'platform-deliveries.test'],
  ['storage', 'platform-', 'keys-and-workspaces', 'client-secrets', 'protocol-b-library'],
);
t.setTimeout(shortOrLong(300_000, 1_200_000));

t.test('the previous release runs on the schema of today', { skip: noPreviousRelease() }, async (t) => {
  const release = previousRelease(t);
  for (const test of TESTS.flatMap((prefix) => release.tests(prefix)))
    t.equal(await release.failureOf(test), undefined, test);
});
