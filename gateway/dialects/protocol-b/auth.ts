/**
 * Finds the caller by protocol B's own key header, else by a bearer token, else by a single-use token in the query. On
 * sockets the query may hold the key, too, since browsers cannot set headers there.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { SingleUseTokenKind } from '../../../contracts/ports/accounts/single-use-tokens.js';
import { authenticateKey, bearerToken, permitted } from '../../server/auth.js';
import type { RequestCredentials, HttpRequest } from '../../server/port.js';
import type { ProtocolBParts } from './parts.js';

type Parts = Pick<ProtocolBParts, 'keys' | 'tokens' | 'vocabulary'>;
type KeyNames = Pick<ProtocolBParts['vocabulary'], 'protocolBKeyHeader'>;

/** The key of the headers; undefined if there is none. Errors: `invalid_key`. */
export const headerKey = (
  headers: HttpRequest['headers'],
  { protocolBKeyHeader }: KeyNames,
): string | undefined => headers.get(protocolBKeyHeader.toLowerCase())?.trim() || bearerToken(headers);

/** What a key is called outside of headers: like its header, with `-` or `_`, or `authorization`. */
export const keyNames = ({ protocolBKeyHeader }: KeyNames): readonly string[] => [
  protocolBKeyHeader,
  protocolBKeyHeader.replaceAll('-', '_'),
  'authorization',
];

/** The key without a leading "Bearer", which clients copy from the header. */
export const withoutScheme = (key: string): string => key.trim().replace(/^bearer +/iu, '');

/** The key of a socket's headers, else of its query; undefined if there is none. Errors: `invalid_key`. */
export const socketKey = (
  { headers, query }: Pick<HttpRequest, 'headers' | 'query'>,
  names: KeyNames,
): string | undefined =>
  headerKey(headers, names) ??
  keyNames(names)
    .map((name) => withoutScheme(query.get(name) ?? ''))
    .find((key) => key !== '');

async function callerOfKey(
  key: string | undefined,
  request: RequestCredentials,
  { keys }: Pick<Parts, 'keys'>,
): Promise<Caller> {
  const caller = await authenticateKey(key, keys, request.permission);
  request.authenticated(caller);
  return caller;
}

/** Errors: those of `authenticateKey`. */
export const callerOf = async (request: RequestCredentials, parts: Omit<Parts, 'tokens'>): Promise<Caller> =>
  callerOfKey(headerKey(request.headers, parts.vocabulary), request, parts);

/** Uses the token up; it has the permissions of its key. Errors: `invalid_key`, `role_forbidden`, `overloaded`. */
export async function redeem(
  token: string,
  kind: SingleUseTokenKind,
  { permission }: Pick<HttpRequest, 'permission'>,
  { tokens }: Pick<Parts, 'tokens'>,
): Promise<Caller> {
  const identity = await tokens.redeem(token, kind);
  if (identity) return permitted(identity, permission);
  throw new ServiceError('invalid_key', {
    message: 'This token is unknown, used or expired',
    param: 'token',
  });
}

/**
 * The caller with this key, by default that of the headers; accepts `?token=` of a browser in place of a key. Errors: those
 * of `authenticateKey`, `overloaded`.
 */
export async function callerOrToken(
  request: RequestCredentials & Pick<HttpRequest, 'query'>,
  kind: SingleUseTokenKind,
  parts: Parts,
  key = headerKey(request.headers, parts.vocabulary),
): Promise<Caller> {
  const token = request.query.get('token');
  if (!token || key !== undefined) return callerOfKey(key, request, parts);
  const caller = await redeem(token, kind, request, parts);
  request.authenticated(caller);
  return caller;
}
