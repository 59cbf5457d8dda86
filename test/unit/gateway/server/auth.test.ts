/** Keys in requests: where they are found, and what they permit. */
import type { Test } from 'tap';
import t from '../../../fixtures/tap.js';
import { ServiceError } from '../../../../contracts/errors.js';
import type { Role } from '../../../../contracts/permissions.js';
import { authenticate, bearerToken } from '../../../../gateway/server/auth.js';

const code = (expected: string) => (error: unknown) =>
  error instanceof ServiceError && error.code === expected;

async function failsWith(t: Test, work: Promise<unknown>, expected: string, name: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  t.ok(code(expected)(error), `${name}: ${expected}, got ${String(error)}`);
}

void t.test('bearer keys', async (t) => {
  const caller = { workspaceId: 'w', keyId: 'k' };
  const known: Readonly<Record<string, Role>> = { 'good_Key-1': 'full', reader: 'read' };
  const authority = {
    authenticate: async (key: string) => (known[key] ? { ...caller, role: known[key] } : undefined),
  };
  const request = (authorization?: string) => ({
    permission: 'speech' as const,
    authenticated: () => undefined,
    headers: new Map(authorization === undefined ? [] : [['authorization', authorization]]),
  });
  t.strictSame(await authenticate(request('Bearer good_Key-1'), authority), caller);
  t.strictSame(await authenticate(request('bearer  good_Key-1 '), authority), caller);
  t.equal(bearerToken(new Map()), undefined);
  const refused = {
    missing_key: [undefined, '', ' ', 'Bearer', 'bearer '],
    role_forbidden: ['Bearer reader'],
    invalid_key: ['Basic abc', 'Bearer a b', 'Bearer unknown', `Bearer ${'k'.repeat(300)}`],
  };
  for (const [expected, values] of Object.entries(refused)) {
    for (const value of values)
      await failsWith(t, authenticate(request(value), authority), expected, String(value));
  }
});
