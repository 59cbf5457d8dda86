/** During an upgrade machine by machine the previous release runs on today's schema: its own tests pass there. */
import t from 'tap';
import { shortOrLong } from '../fixtures/long.js';
import { noPreviousRelease, previousRelease } from '../fixtures/previous-release.js';

/** Tests that read and write most tables; in the long form all tests of the agent platform, through its routes. */
const TESTS = shortOrLong(
  ['storage.test', 'platform-session-runs.test', 'agent-test-queue.test', 'platform-deliveries.test'],
  ['storage', 'platform-', 'keys-and-workspaces', 'client-secrets', 'protocol-b-library'],
);
t.setTimeout(shortOrLong(300_000, 1_200_000));

t.test('the previous release runs on the schema of today', { skip: noPreviousRelease() }, async (t) => {
  const release = previousRelease(t);
  for (const test of TESTS.flatMap((prefix) => release.tests(prefix)))
    t.equal(await release.failureOf(test), undefined, test);
});
