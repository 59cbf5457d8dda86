/**
 * Finds the caller by `Authorization: Bearer <key>` and checks that the key's role has the permission that the route
 * needs. Dialects with other key headers pass the key themselves.
 */
import { ServiceError } from '../../contracts/errors.js';
import { ownedByWorkspace } from '../../contracts/owner.js';
import { holds, type Permission, rolesOf } from '../../contracts/permissions.js';
import type { Caller, Identity, KeyAuthority } from '../../contracts/ports/accounts/identity.js';
import type { RequestCredentials, HttpRequest } from './port.js';

/** docs/contract/decisions.md "Keys"; the bound keeps hostile keys away from the cache and the database. */
const KEY = /^[A-Za-z0-9_.-]{1,256}$/;
const BEARER = /^bearer +(\S+) *$/i;

/** An empty header, or only the scheme. */
const EMPTY = /^(bearer)?$/i;

/** The bearer token; undefined if the headers have none. Errors: `invalid_key`. */
export function bearerToken(headers: HttpRequest['headers']): string | undefined {
  const header = headers.get('authorization');
  if (header === undefined || EMPTY.test(header.trim())) return undefined;
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw new ServiceError('invalid_key');
  return token;
}

/** Errors: `role_forbidden`, naming the roles that have the permission. */
export function permitted({ role, isOperators, ...caller }: Identity, permission: Permission): Caller {
  ownedByWorkspace(caller.workspaceId);
  if (holds({ role, isOperators }, permission)) return caller;
  const where = role === 'full' ? ' outside of the workspace Default' : '';
  throw new ServiceError('role_forbidden', {
    message: `A key of role "${role}" may not do this${where}; it takes a key of role ${rolesOf(permission).join(' or ')}`,
  });
}

/**
 * The identity behind a key, without a check of its permissions. Errors: `missing_key` if `key` is undefined or empty,
 * `invalid_key` if it is malformed or unknown, `expired_key`.
 */
export async function identify(key: string | undefined, authority: KeyAuthority): Promise<Identity> {
  if (!key) throw new ServiceError('missing_key');
  const identity = KEY.test(key) ? await authority.authenticate(key) : undefined;
  if (!identity) throw new ServiceError('invalid_key');
  ownedByWorkspace(identity.workspaceId);
  return identity;
}

/**
 * The caller behind a key that has the permission. Errors: `missing_key` if `key` is undefined or empty,
 * `invalid_key` if it is malformed or unknown, `expired_key`, `role_forbidden`.
 */
export async function authenticateKey(
  key: string | undefined,
  authority: KeyAuthority,
  permission: Permission,
): Promise<Caller> {
  return permitted(await identify(key, authority), permission);
}

/** The caller behind the request's bearer token. Errors: those of `authenticateKey`. */
export async function authenticate(request: RequestCredentials, authority: KeyAuthority): Promise<Caller> {
  const caller = await authenticateKey(bearerToken(request.headers), authority, request.permission);
  request.authenticated(caller);
  return caller;
}
