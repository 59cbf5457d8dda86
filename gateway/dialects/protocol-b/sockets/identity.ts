/**
 * Finds the caller of a speech socket (docs/contract/protocol-b.md 3, "Authentication places"): by the key of the
 * headers or the query, else by a single-use token in the query, else by the key of the first message.
 */
import { type Caller, live } from '../../../../contracts/ports/accounts/identity.js';
import { authenticateKey } from '../../../server/auth.js';
import type { HttpRequest } from '../../../server/port.js';
import { redeem, socketKey } from '../auth.js';
import type { ProtocolBParts } from '../parts.js';

type Parts = Pick<ProtocolBParts, 'keys' | 'tokens' | 'vocabulary' | 'speech'>;

async function solvent(caller: Caller, { speech }: Parts): Promise<Caller> {
  await speech.checkQuota(caller);
  return live(caller);
}

type Needs = Pick<HttpRequest, 'permission'>;

/** Errors: those of `authenticateKey`, `quota_exceeded`. */
export const callerOfKey = async (
  key: string | undefined,
  { permission }: Needs,
  parts: Parts,
): Promise<Caller> => solvent(await authenticateKey(key, parts.keys, permission), parts);

/** Undefined if the first message has to have the key. Errors: those of `authenticateKey`, `quota_exceeded`, `overloaded`. */
export async function callerOfHandshake(
  request: Pick<HttpRequest, 'headers' | 'query' | 'permission'>,
  parts: Parts,
): Promise<Caller | undefined> {
  const key = socketKey(request, parts.vocabulary);
  if (key !== undefined) return callerOfKey(key, request, parts);
  const token = request.query.get('single_use_token');
  return token ? solvent(await redeem(token, 'tts_websocket', request, parts), parts) : undefined;
}
