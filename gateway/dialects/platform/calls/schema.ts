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
