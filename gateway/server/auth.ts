/** Who calls, by `Authorization: Bearer <key>`. Dialects with other key headers pass the key themselves. */
import { ServiceError } from '../../contracts/errors.js';
import type { Caller, KeyAuthority } from '../../contracts/ports/identity.js';
import type { HttpRequest } from './port.js';

/** decisions.md "Keys"; the bound keeps hostile ones away from the cache and the database. */
const KEY = /^[A-Za-z0-9_.-]{1,256}$/;
const BEARER = /^bearer +(\S+) *$/i;

/** Nothing, or no more than the scheme. */
const EMPTY = /^(bearer)?$/i;

/** The bearer token; undefined where there is none in the headers. Errors: `invalid_key`. */
export function bearerToken(headers: HttpRequest['headers']): string | undefined {
  const header = headers.get('authorization');
  if (header === undefined || EMPTY.test(header.trim())) return undefined;
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw new ServiceError('invalid_key');
  return token;
}

/** Errors: `missing_key` where `key` is undefined or empty, `invalid_key` where it is malformed or unknown. */
export async function authenticateKey(key: string | undefined, authority: KeyAuthority): Promise<Caller> {
  if (!key) throw new ServiceError('missing_key');
  const caller = KEY.test(key) ? await authority.authenticate(key) : undefined;
  if (!caller) throw new ServiceError('invalid_key');
  return caller;
}

/** The caller behind the request's bearer token. Errors: `missing_key`, `invalid_key`. */
export async function authenticate(
  request: Pick<HttpRequest, 'headers'>,
  authority: KeyAuthority,
): Promise<Caller> {
  return authenticateKey(bearerToken(request.headers), authority);
}
