/** Bodies and answers of `/v1/agent/calls` (docs/contract/platform.md 6.14). */
import { LIMITS } from '../../../../contracts/limits.js';
import { VoicemailAction } from '../../../../contracts/schemas/placed-calls.js';
import { leaf, strict, text, whole } from '../../../../contracts/schemas/shapes.js';
import { type Static, Type } from '../../../../contracts/schemas/type.js';
import { CALLED_FIELDS } from '../sessions/schema.js';

const { phone, session } = LIMITS;
const address = { min: 1, max: session.phoneNumber };

export const CallRequest = strict(
  {
    agent_id: text({ min: 1, max: session.agentId }),
    version_number: leaf(
      Type.Integer({
        minimum: 1,
        maximum: 2 ** 31 - 1,
        description: 'A published version. Absent: the last one.',
      }),
    ),
    from: text(address, {
      description: 'One of the workspace’s phone numbers, or its `phone_number_id`.',
    }),
    to: text(address, { description: 'In E.164 form, or a SIP address.' }),
    max_ring_seconds: leaf(
      whole(phone.ring, {
        default: phone.ring.default,
        description: 'After that the call counts as not answered.',
      }),
    ),
    voicemail: leaf(
      strict(
        {
          action: VoicemailAction,
          message: leaf(
            text(phone.voicemail, { description: 'For `leave_message` and `leave_prompt_message` only.' }),
          ),
        },
        {
          description:
            'Absent: as `conversation.outbound` of the agent says, by default without detection, for which providers charge.',
        },
      ),
    ),
    ...CALLED_FIELDS,
  },
  {
    examples: [
      {
        agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        from: '+493012345678',
        to: '+14155550123',
        dynamic_variables: { customer_name: 'Ada' },
      },
    ],
  },
);
export type CallRequest = Static<typeof CallRequest>;

const { dynamic_variables, overrides, metadata } = CALLED_FIELDS;

/** The described platform's request. Its number is looked at after the agent, so the schema takes any text. */
export const PhoneCallRequest = strict(
  {
    agent_id: text({ min: 1, max: session.agentId }),
    phone_number_id: text(address, { description: 'The phone number from which the call is placed.' }),
    to_number: Type.String({ description: 'In E.164 form.' }),
    dynamic_variables,
    overrides,
    metadata,
  },
  {
    examples: [
      {
        agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        phone_number_id: 'phone_5f0c8a1b2c3d4e5f60718293',
        to_number: '+14155550123',
        dynamic_variables: { customer_name: 'Ada' },
      },
    ],
  },
);
export type PhoneCallRequest = Static<typeof PhoneCallRequest>;

export const PlacedPhoneCall = Type.Object(
  {
    session_id: Type.String({
      description:
        'The session is the call: its `dial_status` says what became of it, and ending it ends the call.',
    }),
    status: Type.Literal('queued'),
  },
  { title: 'PlacedPhoneCall', examples: [{ session_id: 'sess_5f0c8a1b2c3d4e5f60718293', status: 'queued' }] },
);

/** `rules`: the status of a repeated request, how long the key is kept, and the status for another request. */
export const idempotencyHeader = (rules: string) =>
  ({
    name: 'Idempotency-Key',
    in: 'header',
    description: `A repeated request with the same key gets the call that the first one made (${rules}).`,
    schema: { type: 'string', minLength: phone.idempotencyKey.min, maxLength: phone.idempotencyKey.max },
  }) as const;
