/** `POST /v1/single-use-token/{type}`: a key for a browser (decisions.md "Protocol B"). */
import { ServiceError } from '../../../contracts/errors.js';
import { isSingleUseTokenKind, SINGLE_USE_TOKEN_KINDS } from '../../../contracts/ports/single-use-tokens.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import { callerOf } from './auth.js';
import type { ProtocolBParts } from './parts.js';
import { json } from './replies.js';

export async function issueToken(request: HttpRequest, parts: ProtocolBParts): Promise<Reply> {
  const caller = await callerOf(request, parts);
  const kind = request.params['type'] ?? '';
  if (!isSingleUseTokenKind(kind)) {
    const message = `token type must be one of ${SINGLE_USE_TOKEN_KINDS.join(', ')}`;
    throw new ServiceError('invalid_request', { message, param: 'type' });
  }
  return json({ token: await parts.tokens.issue(caller, kind) });
}
