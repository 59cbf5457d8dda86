/** Finds the caller by protocol B's own key header, else by a bearer token, else by a single-use token in the query. */
import { ServiceError } from '../../../contracts/errors.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { SingleUseTokenKind } from '../../../contracts/ports/accounts/single-use-tokens.js';
import { authenticateKey, bearerToken, permitted } from '../../server/auth.js';
import type { Credentials, HttpRequest } from '../../server/port.js';
import type { ProtocolBParts } from './parts.js';

type Parts = Pick<ProtocolBParts, 'keys' | 'tokens' | 'vocabulary'>;

/** The key of the headers; undefined if there is none. Errors: `invalid_key`. */
export const headerKey = (
  headers: HttpRequest['headers'],
  { protocolBKeyHeader }: Pick<ProtocolBParts['vocabulary'], 'protocolBKeyHeader'>,
): string | undefined => headers.get(protocolBKeyHeader.toLowerCase())?.trim() || bearerToken(headers);

/** Errors: those of `authenticateKey`. */
export async function callerOf(
  request: Credentials,
  { keys, vocabulary }: Omit<Parts, 'tokens'>,
): Promise<Caller> {
  const { headers, permission } = request;
  const caller = await authenticateKey(headerKey(headers, vocabulary), keys, permission);
  request.authenticated();
  return caller;
}

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

/** Like `callerOf`, and accepts `?token=` of a browser in place of a key. Errors: those of `authenticateKey`, `overloaded`. */
export async function callerOrToken(
  request: Credentials & Pick<HttpRequest, 'query'>,
  kind: SingleUseTokenKind,
  parts: Parts,
): Promise<Caller> {
  const token = request.query.get('token');
  if (!token || headerKey(request.headers, parts.vocabulary) !== undefined) return callerOf(request, parts);
  const caller = await redeem(token, kind, request, parts);
  request.authenticated();
  return caller;
}
