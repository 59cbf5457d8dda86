/** Bodies and answers of `/v1/agent/calls` (docs/contract/platform.md 6.14). */
import { LIMITS } from '../../../../contracts/limits.js';
import {
  ANSWERED_BY,
  CALL_STATES,
  PHONE_PROVIDERS,
  VOICEMAIL_ACTIONS,
} from '../../../../contracts/phone/phone.js';
import { leaf, Moment, nullable, strict, text, whole } from '../../../../contracts/schemas/shapes.js';
import { type Static, Type } from '../../../../contracts/schemas/type.js';
import { CALLED_FIELDS } from '../sessions/schema.js';

const { phone, session } = LIMITS;
const address = { min: 1, max: session.phoneNumber };

const Action = Type.Enum([...VOICEMAIL_ACTIONS], {
  description:
    'What happens if a machine answers: the call ends; the provider says `message` after the greeting, then the call ends; ' +
    'or the agent continues, and `answered_by` says so.',
});

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
          action: Action,
          message: leaf(text(phone.voicemail, { description: 'For `leave_message` only.' })),
        },
        { description: 'Absent: machines are not detected. Providers charge for the detection.' },
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

export const CallEntity = Type.Object(
  {
    call_id: Type.String(),
    session_id: Type.String({ description: 'Its conversation, record and recording.' }),
    agent_id: Type.String(),
    phone_number_id: nullable(Type.String()),
    provider: Type.Enum([...PHONE_PROVIDERS]),
    from: Type.String(),
    to: Type.String(),
    state: Type.Enum([...CALL_STATES], {
      description: 'All but `queued`, `ringing` and `answered` are its end.',
    }),
    reason: nullable(Type.String({ description: 'The reason of `failed`.' })),
    answered_by: nullable(Type.Enum([...ANSWERED_BY])),
    max_ring_seconds: Type.Integer(),
    voicemail: nullable(Type.Object({ action: Action, message: nullable(Type.String()) })),
    created_at: Moment,
    answered_at: nullable(Moment),
    ended_at: nullable(Moment),
  },
  {
    examples: [
      {
        call_id: 'call_5f0c8a1b2c3d4e5f60718293',
        session_id: 'sess_5f0c8a1b2c3d4e5f60718293',
        agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        phone_number_id: 'phone_5f0c8a1b2c3d4e5f60718293',
        provider: 'twilio',
        from: '+493012345678',
        to: '+14155550123',
        state: 'queued',
        reason: null,
        answered_by: null,
        max_ring_seconds: 30,
        voicemail: null,
        created_at: '2026-01-01T12:00:00.000Z',
        answered_at: null,
        ended_at: null,
      },
    ],
  },
);
