/** Ids that a change sends back. */
import t from '../../../fixtures/tap.js';
import { foreignMembers } from '../../../../contracts/schemas/write-only.js';

t.test('ids that a change sends back must be those of the changed object', async (t) => {
  const own = { agent_id: 'a', workspace_id: 'w' };
  t.strictSame(foreignMembers({ ...own, name: 'n' }, own), []);
  t.strictSame(foreignMembers({}, own), []);
  t.strictSame(foreignMembers({ agent_id: 'b', workspace_id: null }, own), ['agent_id', 'workspace_id']);
});
