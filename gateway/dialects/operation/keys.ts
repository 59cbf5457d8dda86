/** Keys of the workspace: listed; and made and revoked by full keys, where the operator allows it (docs/keys-and-workspaces.md). */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { ROLES } from '../../../contracts/permissions.js';
import type { Accounts, KeyChanger, KeyRecord } from '../../../contracts/ports/accounts/account.js';
import type { Caller, KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { leaf, Moment, nullable, strict, text } from '../../../contracts/schemas/shapes.js';
import { type Static, Type } from '../../../contracts/schemas/type.js';
import { bearerToken, identify } from '../../server/auth.js';
import { readJson } from '../../server/bodies/body.js';
import { answers, jsonBody } from '../../server/openapi/openapi-parts.js';
import type { HttpRequest } from '../../server/port.js';
import type { RouteRow } from '../../server/routes.js';
import { described, failures, uncached } from './answers.js';

export interface KeyParts {
  readonly keys: KeyAuthority;
  readonly accounts: Accounts;
  /** Whether keys may make and revoke keys. */
  readonly keysMakeKeys: boolean;
  readonly clock: Clock;
}

const KEY = {
  key_id: Type.String(),
  name: Type.String(),
  role: Type.Enum([...ROLES]),
  tail: Type.String({ description: 'Its last characters.' }),
  created_at: Moment,
  expires_at: nullable(Moment),
  last_used_at: nullable(Moment),
  revoked_at: nullable(Moment),
};

const KeyList = Type.Object({
  keys: Type.Array(Type.Object(KEY), {
    description: 'The newest thousand, oldest first, revoked ones too.',
  }),
  changeable: Type.Boolean({ description: 'Whether full keys may make and revoke them (`CONSOLE_KEYS`).' }),
});

const KeyCreation = strict(
  {
    name: text(LIMITS.keys.name),
    role: leaf(
      Type.Enum([...ROLES], {
        default: 'full',
        description: '`machine`: by full keys of the workspace Default only.',
      }),
    ),
    expires_at: leaf(
      Type.String({
        format: 'date-time',
        maxLength: 64,
        description: 'Absent: never. It ends no later than the key that makes it.',
      }),
    ),
  },
  { examples: [{ name: 'A page of ours', role: 'sessions', expires_at: '2030-01-31T00:00:00Z' }] },
);
type KeyCreation = Static<typeof KeyCreation>;

const MadeKey = Type.Object(
  { ...KEY, key: Type.String({ description: 'Told in this answer only.' }) },
  { title: 'MadeKey' },
);

const check = checker(KeyCreation);

/** Errors: `invalid_request`. */
function creationIn(body: unknown): KeyCreation {
  const outcome = check(withoutNulls(body));
  if (outcome.ok) return outcome.value;
  const [{ message, loc }] = outcome.problems;
  throw new ServiceError('invalid_request', { message, param: loc.join('.') });
}

const keyBody = (key: KeyRecord): object => ({
  key_id: key.id,
  name: key.name,
  role: key.role,
  tail: key.tail,
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

const refused = (message: string, param: string) => new ServiceError('invalid_request', { message, param });

const CONTROLS = /\p{C}/u;

/** Errors: `invalid_request`. */
function expiryIn({ expires_at: at }: KeyCreation, clock: Clock): Date | null {
  if (at === undefined || at === null) return null;
  const expiresAt = new Date(at);
  if (!(expiresAt.getTime() > clock.now()))
    throw refused('expires_at must be a moment to come', 'expires_at');
  return expiresAt;
}

function mayChange({ keysMakeKeys }: KeyParts): void {
  if (!keysMakeKeys)
    throw new ServiceError('conflict', {
      message: 'Keys are made and revoked by `npm run keys`; with CONSOLE_KEYS=true, full keys do so as well',
    });
}

const changer = ({ clientAddress: address }: HttpRequest, { workspaceId, keyId }: Caller): KeyChanger => ({
  ...{ workspaceId, keyId, address },
});

/** Figures of all workspaces are no full key's to hand out, but those of the default workspace. Errors: `role_forbidden`. */
async function mayHandOut(role: KeyRecord['role'], request: HttpRequest, keys: KeyAuthority): Promise<void> {
  if (role !== 'machine') return;
  const { isOperators = false } = await identify(bearerToken(request.headers), keys);
  if (!isOperators)
    throw new ServiceError('role_forbidden', {
      message: 'Only a full key of the workspace Default makes keys of the role machine',
    });
}

export const KEY_ROWS: readonly RouteRow<KeyParts, Caller>[] = [
  {
    method: 'GET',
    path: '/v1/keys',
    permission: 'read',
    handler: async (_request, { accounts, keysMakeKeys }, { workspaceId }) =>
      uncached({ keys: (await accounts.keys(workspaceId)).map(keyBody), changeable: keysMakeKeys }),
    description: described('Keys of the workspace', 'Without themselves.', KeyList),
  },
  {
    method: 'POST',
    path: '/v1/keys',
    permission: 'manage',
    async handler(request, parts, caller) {
      mayChange(parts);
      const wanted = creationIn(await readJson(request, LIMITS.keys.bodyBytes));
      const { name, role = 'full' } = wanted;
      if (CONTROLS.test(name)) throw refused('name must be a line of text', 'name');
      await mayHandOut(role ?? 'full', request, parts.keys);
      const expiresAt = expiryIn(wanted, parts.clock);
      const made = await parts.accounts.makeKey(
        { name, role: role ?? 'full', expiresAt },
        changer(request, caller),
      );
      return uncached({ ...keyBody(made), key: made.key }, 201);
    },
    description: {
      summary: 'Make a key',
      operationId: 'makeKey',
      description:
        'Of the same workspace. It is told in this answer only. Where the operator allows it (`CONSOLE_KEYS`); 409 elsewhere, and where the workspace has too many.',
      tags: ['Operation'],
      requestBody: jsonBody(KeyCreation),
      responses: { ...answers(201, 'The key', MadeKey), ...failures(400, 401, 403, 409, 413) },
    },
  },
  {
    method: 'DELETE',
    path: '/v1/keys/{key_id}',
    permission: 'manage',
    async handler(request, parts, caller) {
      mayChange(parts);
      const found = await parts.accounts.revokeKey(request.params['key_id'] ?? '', changer(request, caller));
      if (!found) throw new ServiceError('not_found');
      return { status: 204 };
    },
    description: {
      summary: 'Revoke a key',
      operationId: 'revokeKey',
      description:
        'At once, in every process; also the one that asks. Keys that it has made stay. Where the operator allows it (`CONSOLE_KEYS`); 409 elsewhere.',
      tags: ['Operation'],
      responses: { ...answers(204, 'It is revoked'), ...failures(401, 403, 404, 409) },
    },
  },
];
