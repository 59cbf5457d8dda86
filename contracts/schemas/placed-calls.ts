/** A placed call, as reads and the event of its end show it (contracts/phone/placed-call.ts). */
import {
  ANSWERED_BY,
  ANSWERERS,
  DIAL_STATUSES,
  DIRECTIONS,
  PHONE_PROVIDERS,
  VOICEMAIL_ACTIONS,
} from '../phone/phone.js';
import { CALL_STATES } from '../phone/placed-states.js';
import { Moment, nullable } from './shapes.js';
import { type Static, Type } from './type.js';

export const VoicemailAction = Type.Enum([...VOICEMAIL_ACTIONS], {
  description:
    'What happens if a machine answers: the call ends; the provider says `message` after the greeting, or what the language model ' +
    'makes of it, then the call ends; or the agent continues, and `answered_by` says so.',
});

/** What sessions and their events tell of a call's direction, and of how its dialling came out. */
export const DIALLED = {
  direction: Type.Enum([...DIRECTIONS], {
    description: '`outbound` of placed calls; everything else is `inbound`, sessions of clients, too.',
  }),
  dial_status: nullable(
    Type.Enum([...DIAL_STATUSES], {
      description: 'How a placed call came out. Null while it rings, and of everything else.',
    }),
  ),
  answered_by: nullable(
    Type.Enum([...ANSWERERS], {
      description: 'Of placed calls that were answered; `unknown` as long as nothing has told who it was.',
    }),
  ),
};

export const CALL_EXAMPLE = {
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
};

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
    voicemail: nullable(Type.Object({ action: VoicemailAction, message: nullable(Type.String()) })),
    created_at: Moment,
    answered_at: nullable(Moment),
    ended_at: nullable(Moment),
  },
  {
    title: 'PlacedCall',
    examples: [CALL_EXAMPLE],
  },
);
export type CallEntity = Static<typeof CallEntity>;
