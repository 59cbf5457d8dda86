/** The question before a call and its answer, as the receiver sees them (docs/webhooks.md "Before a call"). */
import { DIRECTIONS } from '../phone/phone.js';
import { INIT_EVENT } from '../ports/sessions/conversation-init.js';
import { nullable } from './shapes.js';
import { Type } from './type.js';

export const InitQuestionBody = Type.Object(
  {
    event: Type.Literal(INIT_EVENT),
    agent_id: Type.String(),
    session: Type.Object({
      caller_number: nullable(
        Type.String({
          description: 'The person’s; null if it is withheld, and for calls without a telephone.',
        }),
      ),
      dialed_number: nullable(Type.String({ description: 'The workspace’s; null without a telephone.' })),
      direction: Type.Enum([...DIRECTIONS]),
      timezone: Type.String(),
    }),
  },
  {
    title: 'ConversationInit',
    examples: [
      {
        event: INIT_EVENT,
        agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        session: {
          caller_number: '+14155550123',
          dialed_number: '+493012345678',
          direction: 'inbound',
          timezone: 'Europe/Berlin',
        },
      },
    ],
  },
);

export const InitAnswerBody = Type.Object(
  {
    dynamic_variables: Type.Optional(
      nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'As those of a session: strings, numbers and booleans.',
        }),
      ),
    ),
  },
  { title: 'ConversationInitAnswer', examples: [{ dynamic_variables: { customer_name: 'Ada' } }] },
);
