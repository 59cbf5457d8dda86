/** Addresses with which a browser opens a conversation without a key (docs/contract/agent-elevenlabs.md 2). */
import { ServiceError } from '../../../../contracts/errors.js';
import { carriedHere } from '../../../../contracts/ports/calls/socket-calls.js';
import { Type } from '../../../../contracts/schemas/type.js';
import { failuresAs } from '../../../server/openapi/openapi-errors.js';
import { answers } from '../../../server/openapi/openapi-parts.js';
import type { RouteDescription } from '../../../server/port.js';
import { json } from '../../../server/replies.js';
import { callerOf } from '../auth.js';
import { baseOf } from '../parts.js';
import type { ProtocolBHandler, ProtocolBRow } from '../rows.js';
import { ErrorBody } from '../schema.js';

/** The socket of conversations, below the base. */
export const CONVERSATION = '/v1/convai/conversation';

const failures = failuresAs(ErrorBody, {
  404: 'No such agent',
  409: 'The agent is not published, or calls are not carried here',
});

const SignedAddress = Type.Object({
  signed_url: Type.String({ description: 'Opens one conversation with the agent, within 15 minutes' }),
});

/** Checks what can be checked before the conversation begins. */
const signAddress: ProtocolBHandler = async (request, parts) => {
  const caller = await callerOf(request, parts);
  const agentId = request.query.get('agent_id') ?? '';
  await parts.conversations.sessions.find(agentId, caller);
  carriedHere(parts.conversations.calls);
  const signature = await parts.tokens.issue(caller, `conversation:${agentId}`);
  const origin = request.baseUrl.replace(/^http/u, 'ws');
  const query = new URLSearchParams({ agent_id: agentId, conversation_signature: signature });
  const signed_url = `${origin}${baseOf(parts.vocabulary)}${CONVERSATION}?${query.toString()}`;
  return json(200, { signed_url });
};

/** Clients that ask for it would speak by WebRTC, and get none of the conversation's events there. */
const refuseToken: ProtocolBHandler = async (_request, { conversations }) => {
  carriedHere(conversations.calls);
  throw new ServiceError('unsupported_option', {
    message:
      'Conversations by WebRTC are not served here: set connectionType to "websocket", or use a signed_url',
    param: 'connectionType',
  });
};

const AGENT: NonNullable<RouteDescription['parameters']>[number] = {
  name: 'agent_id',
  in: 'query',
  required: true,
  schema: Type.String(),
};

const signing = (path: string): ProtocolBRow => ({
  method: 'GET',
  path: `${CONVERSATION}/${path}`,
  // It makes no session, but whoever has the address can.
  permission: 'sessions',
  handler: signAddress,
  description: {
    summary: `Sign the address of a conversation (protocol B, ${path})`,
    description: 'For a browser, in place of the key: one conversation with the agent, within 15 minutes.',
    parameters: [AGENT],
    responses: { ...answers(200, 'The address', SignedAddress), ...failures(400, 401, 402, 404, 409, 429) },
  },
});

export const CONVERSATION_ROWS: readonly ProtocolBRow[] = [
  signing('get-signed-url'),
  signing('get_signed_url'),
  {
    method: 'GET',
    path: `${CONVERSATION}/token`,
    // It gives nobody anything.
    permission: 'open',
    handler: refuseToken,
    description: {
      summary: 'Ask for a conversation by WebRTC, which is refused (protocol B)',
      parameters: [AGENT],
      auth: false,
      responses: failures(400, 409),
    },
  },
];
