/** `POST /v1/single-use-token/{type}`: a key for a browser (docs/contract/decisions.md "Protocol B"). */
import { ServiceError } from '../../../contracts/errors.js';
import {
  isSingleUseTokenKind,
  SINGLE_USE_TOKEN_KINDS,
} from '../../../contracts/ports/accounts/single-use-tokens.js';
import { Type } from '../../../contracts/schemas/type.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { callerOf } from './auth.js';
import { failures, type ProtocolBHandler, type ProtocolBRow } from './rows.js';
import { Token } from './schema.js';

const issueToken: ProtocolBHandler = async (request, parts) => {
  const caller = await callerOf(request, parts);
  const kind = request.params['type'] ?? '';
  if (!isSingleUseTokenKind(kind)) {
    const message = `token type must be one of ${SINGLE_USE_TOKEN_KINDS.join(', ')}`;
    throw new ServiceError('invalid_request', { message, param: 'type' });
  }
  return json(200, { token: await parts.tokens.issue(caller, kind) });
};

export const TOKEN_ROWS: readonly ProtocolBRow[] = [
  {
    method: 'POST',
    path: '/v1/single-use-token/{type}',
    permission: 'speech',
    handler: issueToken,
    description: {
      summary: 'Make a single-use token (protocol B)',
      description: 'For a browser, in place of the key: one connection or one upload, within 15 minutes.',
      parameters: [{ name: 'type', in: 'path', required: true, schema: Type.Enum(SINGLE_USE_TOKEN_KINDS) }],
      responses: { ...answers(200, 'The token', Token), ...failures(400, 401, 429) },
    },
  },
];
