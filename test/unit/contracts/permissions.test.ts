/** What roles of keys permit. */
import t from '../../fixtures/tap.js';
import { allows, isRole, type Permission, type Role, rolesOf } from '../../../contracts/permissions.js';

t.test('a role permits what docs/keys-and-workspaces.md says', async (t) => {
  const permitted: Readonly<Record<Role, readonly Permission[]>> = {
    full: ['open', 'speech', 'catalogue', 'sessions', 'records', 'read', 'machine', 'manage'],
    speech: ['open', 'speech', 'catalogue'],
    sessions: ['open', 'sessions', 'records'],
    read: ['open', 'catalogue', 'records', 'read'],
    machine: ['open', 'machine'],
  };
  for (const [role, wanted] of Object.entries(permitted)) {
    t.ok(isRole(role));
    t.strictSame(permitted.full.filter((permission) => allows(role as Role, permission)), wanted, role);
  }
  t.strictSame(rolesOf('records'), ['sessions', 'read', 'full'], 'the narrowest first');
  t.strictSame(rolesOf('manage'), ['full']);
  t.notOk(isRole('admin'));
}); // oxfmt-ignore
