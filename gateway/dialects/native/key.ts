/** `GET /v1/key`: permissions of the request's key, so that a client offers nothing that would be refused. */
import { holds, type Permission, PERMISSIONS, ROLES } from '../../../contracts/permissions.js';
import type { KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import { Type } from '../../../contracts/schemas/type.js';
import { bearerToken, identify } from '../../server/auth.js';
import type { Route } from '../../server/port.js';
import { json } from '../../server/replies.js';
import { FAILURES } from './rows.js';

const NAMES = Object.keys(PERMISSIONS) as readonly Permission[];

const KeyEntity = Type.Object(
  {
    key_id: Type.String(),
    workspace_id: Type.String(),
    role: Type.Enum([...ROLES]),
    permissions: Type.Array(Type.Enum([...NAMES])),
  },
  {
    examples: [
      {
        key_id: 'key_5f0c8a1b2c3d4e5f60718293',
        workspace_id: 'ws_0a1b2c3d4e5f60718293a4b5',
        role: 'read',
        permissions: ['open', 'catalogue', 'records', 'read'],
      },
    ],
  },
);

export const keyRoute = (keys: KeyAuthority): Route => ({
  method: 'GET',
  path: '/v1/key',
  // About the key itself, whatever its role.
  permission: 'open',
  async handler(request) {
    const identity = await identify(bearerToken(request.headers), keys);
    const { keyId, workspaceId, role } = identity;
    request.authenticated({ keyId });
    const permissions = NAMES.filter((name) => holds(identity, name));
    const entity = { key_id: keyId, workspace_id: workspaceId, role, permissions };
    return json(200, entity, { 'cache-control': 'no-store' });
  },
  description: {
    summary: 'What a key may do',
    description: 'The role of the key that the request carries, and its permissions.',
    tags: ['keys'],
    responses: {
      200: { description: 'The key', content: { 'application/json': KeyEntity } },
      ...FAILURES,
    },
  },
});
