/** Bodies and answers of `/v1/agent/chats` (docs/contract/platform.md 6.19). */
import { LIMITS } from '../../../../contracts/limits.js';
import { SESSION_STATUSES } from '../../../../contracts/ports/sessions/sessions.js';
import { leaf, Moment, nullable, strict, text } from '../../../../contracts/schemas/shapes.js';
import { type Static, Type } from '../../../../contracts/schemas/type.js';
import { Item, WRITTEN_FIELDS } from '../sessions/schema.js';

const { agentChat, session } = LIMITS;

export const ChatRequest = strict(
  { agent_id: text({ min: 1, max: session.agentId }), ...WRITTEN_FIELDS },
  {
    examples: [{ agent_id: 'agent_5f0c8a1b2c3d4e5f60718293', dynamic_variables: { customer_name: 'Ada' } }],
  },
);

export const MessageRequest = strict(
  {
    text: text({ min: 1, max: agentChat.message }, { description: 'What the user writes; not blank.' }),
    stream: leaf(
      Type.Boolean({
        default: false,
        description: 'Whether the answer is a stream of events; also with `Accept: text/event-stream`.',
      }),
    ),
  },
  { examples: [{ text: 'Do you have rye bread today?' }] },
);
export type MessageRequest = Static<typeof MessageRequest>;

const Message = Type.Object({
  content: Type.String(),
  error: Type.Optional(Type.String({ description: 'Why the agent could not answer: it apologises.' })),
  turn_id: Type.Integer(),
  created_at: Moment,
});

const TOOL = { call_id: Type.String(), tool_name: Type.String(), tool_source: Type.String() };

const ENDING = {
  chat_id: Type.String(),
  ended: Type.Boolean({
    description: 'Whether the chat has ended: the agent has hung up, or somebody ended it.',
  }),
  cut: nullable(
    Type.String({
      description: `Why the answer is not whole: \`timeout\` (${agentChat.answerMs / 60_000} minutes), \`shutdown\` of this machine, \`client\`.`,
    }),
  ),
};

const ANSWER = {
  text: Type.String({ description: 'All that the agent has written, in one text.' }),
  messages: Type.Array(Message),
  tool_calls: Type.Array(Type.Object({ ...TOOL, input: Type.String() })),
  tool_results: Type.Array(Type.Object({ ...TOOL, output: Type.String(), error: nullable(Type.String()) })),
};

const ANSWER_EXAMPLE = {
  text: 'Yes, until six.',
  messages: [{ content: 'Yes, until six.', turn_id: 1, created_at: '2026-01-01T12:00:04.000Z' }],
  tool_calls: [],
  tool_results: [],
  chat_id: 'sess_5f0c8a1b2c3d4e5f60718293',
  ended: false,
  cut: null,
};

export const ChatAnswer = Type.Object(
  { ...ENDING, ...ANSWER },
  { title: 'ChatAnswer', examples: [ANSWER_EXAMPLE] },
);

export const CreatedChat = Type.Object(
  {
    ...ENDING,
    token: Type.String({
      description: 'Bearer token with which whoever holds it writes on in this chat, reads it and ends it.',
    }),
    ...ANSWER,
  },
  {
    title: 'CreatedChat',
    description: 'With what the agent opens the chat.',
    examples: [{ ...ANSWER_EXAMPLE, token: 'chat_ws_5f0c8a1b2c3d.x' }],
  },
);

export const ChatEntity = Type.Object(
  {
    chat_id: Type.String(),
    agent_id: Type.String(),
    agent_name: Type.String(),
    status: Type.Enum([...SESSION_STATUSES]),
    ended_reason: nullable(Type.String()),
    created_at: Moment,
    ended_at: nullable(Moment),
    items: Type.Array(Item, { description: 'With the token of the chat: its messages alone.' }),
  },
  {
    title: 'Chat',
    examples: [
      {
        chat_id: 'sess_5f0c8a1b2c3d4e5f60718293',
        agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        agent_name: 'Bakery',
        status: 'active',
        ended_reason: null,
        created_at: '2026-01-01T12:00:00.000Z',
        ended_at: null,
        items: [
          {
            type: 'message',
            role: 'assistant',
            content: 'Hello Ada!',
            turn_id: 0,
            created_at: '2026-01-01T12:00:01.000Z',
          },
        ],
      },
    ],
  },
);
