/** Who calls: protocol B's own key header, else a bearer token, else a single-use token in the query. */
import { ServiceError } from '../../../contracts/errors.js';
import type { Caller } from '../../../contracts/ports/identity.js';
import type { SingleUseTokenKind } from '../../../contracts/ports/single-use-tokens.js';
import { authenticateKey, bearerToken } from '../../server/auth.js';
import type { HttpRequest } from '../../server/port.js';
import type { ProtocolBParts } from './parts.js';

type Parts = Pick<ProtocolBParts, 'keys' | 'tokens' | 'vocabulary'>;

/** The key of the headers; undefined where there is none. Errors: `invalid_key`. */
export const headerKey = (
  headers: HttpRequest['headers'],
  { protocolBKeyHeader }: Pick<ProtocolBParts['vocabulary'], 'protocolBKeyHeader'>,
): string | undefined => headers.get(protocolBKeyHeader.toLowerCase())?.trim() || bearerToken(headers);

/** Errors: `missing_key`, `invalid_key`. */
export const callerOf = (
  { headers }: Pick<HttpRequest, 'headers'>,
  { keys, vocabulary }: Omit<Parts, 'tokens'>,
): Promise<Caller> => authenticateKey(headerKey(headers, vocabulary), keys);

/** Spends the token. Errors: `invalid_key`, `overloaded`. */
export async function redeem(
  token: string,
  kind: SingleUseTokenKind,
  { tokens }: Pick<Parts, 'tokens'>,
): Promise<Caller> {
  const caller = await tokens.redeem(token, kind);
  if (caller) return caller;
  throw new ServiceError('invalid_key', {
    message: 'This token is unknown, used or expired',
    param: 'token',
  });
}

/** The same, where a browser may send `?token=` in place of a key. Errors: `missing_key`, `invalid_key`, `overloaded`. */
export async function callerOrToken(
  request: Pick<HttpRequest, 'headers' | 'query'>,
  kind: SingleUseTokenKind,
  parts: Parts,
): Promise<Caller> {
  const token = request.query.get('token');
  if (token && headerKey(request.headers, parts.vocabulary) === undefined) return redeem(token, kind, parts);
  return callerOf(request, parts);
}
