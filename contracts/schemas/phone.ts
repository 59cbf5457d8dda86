/** Phone numbers on the wire (docs/contract/platform.md 6.13). */
import { LIMITS } from '../limits.js';
import {
  type CredentialNames,
  NUMBER_STATUSES,
  PHONE_CREDENTIALS,
  PHONE_PROVIDERS,
  SIP_TRANSPORTS,
} from '../phone/phone.js';
import { leaf, Moment, nullable, strict, text } from './shapes.js';
import { type Static, Type } from './type.js';
import { readOnly } from './write-only.js';

const { phone, session, agent } = LIMITS;

const Agent = leaf(
  text(
    { min: 1, max: session.agentId },
    { description: 'The agent that answers. Null: callers hear that it is busy.' },
  ),
);
const Label = text(phone.label, { default: '', description: 'A name for people.' });
const Enabled = Type.Boolean({ default: true, description: 'False rejects calls.' });

const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

/** The names of each provider's credentials, as a sentence. */
const CREDENTIALS = Object.entries<CredentialNames>(PHONE_CREDENTIALS)
  .map(([provider, { verifies, places }]) => {
    const more = places.length > 0 ? `; to place calls also ${quoted(places)}` : '';
    return `Of \`${provider}\`: \`${verifies}\`${more}.`;
  })
  .join(' ');

const Credentials = Type.Record(Type.String(), text(phone.credential), {
  description: `Write-only. For verifying the provider’s webhooks, and for requests to its API. ${CREDENTIALS}`,
  // For forms.
  'x-by-provider': PHONE_CREDENTIALS,
});
const ApiUrl = leaf(
  text(phone.apiUrl, {
    description:
      'Address of the provider’s API if it is not the usual one, for example that of a region. Null: the usual one.',
  }),
);

const Secret = leaf(
  text(phone.credential.max, {
    description: 'Write-only. Empty or absent beside its username: the stored one.',
  }),
);

/** How calls come and go over SIP, as the described platform names it. */
export const SIP_FIELDS = {
  inbound_auth_username: leaf(
    text(phone.credential.max, {
      description:
        'With which the carrier’s calls authenticate (digest). This, addresses or both are needed.',
    }),
  ),
  inbound_auth_password: Secret,
  inbound_allowed_addresses: leaf(
    Type.Array(text(phone.sipAddress), {
      maxItems: phone.sipAddresses,
      description: 'IP addresses and networks from which its calls come.',
    }),
  ),
  termination_uri: leaf(
    text(phone.sipServer, {
      description:
        'The carrier’s SIP server, through which calls are placed: a host, with or without a port.',
    }),
  ),
  termination_transport: leaf(Type.Enum([...SIP_TRANSPORTS], { default: 'auto' })),
  termination_auth_username: leaf(text(phone.credential.max)),
  termination_auth_password: Secret,
};

export const PhoneSipConfig = strict(SIP_FIELDS, {
  examples: [
    {
      inbound_allowed_addresses: ['203.0.113.0/24'],
      termination_uri: 'sip.example.com:5060',
      termination_transport: 'udp',
      termination_auth_username: 'trunk',
      termination_auth_password: 'secret',
    },
  ],
});
export type PhoneSipConfig = Static<typeof PhoneSipConfig>;

/** The same as reads show it. */
const SIP_READ = {
  inbound_auth_username: Type.String({ description: 'Empty: no account is asked for.' }),
  inbound_allowed_addresses: Type.Array(Type.String()),
  termination_uri: Type.String({ description: 'Empty: no calls are placed.' }),
  termination_transport: Type.Enum([...SIP_TRANSPORTS]),
  termination_auth_username: Type.String(),
};
export type SipRead = { [K in keyof typeof SIP_READ]: Static<(typeof SIP_READ)[K]> };

/** Every member of it, where reads may have it and changes may repeat it. */
const optional = <K extends keyof typeof SIP_READ>(name: K) => Type.Optional(SIP_READ[name]);
const SIP_SHOWN = {
  inbound_auth_username: optional('inbound_auth_username'),
  inbound_allowed_addresses: optional('inbound_allowed_addresses'),
  termination_uri: optional('termination_uri'),
  termination_transport: optional('termination_transport'),
  termination_auth_username: optional('termination_auth_username'),
};

export const PhoneNumberCreation = strict(
  {
    provider: Type.Enum([...PHONE_PROVIDERS]),
    phone_number: text(
      { min: 1, max: session.phoneNumber },
      { description: 'In E.164 form, or a SIP address.' },
    ),
    label: Type.Optional(Label),
    agent_id: Agent,
    enabled: Type.Optional(Enabled),
    credentials: Type.Optional(Credentials),
    api_url: ApiUrl,
    ...SIP_FIELDS,
  },
  {
    description:
      'Numbers of `sip` have their credentials here or in the fields of their own; others need `credentials`.',
    examples: [
      {
        provider: 'twilio',
        phone_number: '+493012345678',
        agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        credentials: { auth_token: '0123456789abcdef0123456789abcdef' },
      },
    ],
  },
);
export type PhoneNumberCreation = Static<typeof PhoneNumberCreation>;

export const PhoneNumberChange = strict(
  {
    label: Type.Optional(Label),
    agent_id: Agent,
    enabled: Type.Optional(Enabled),
    credentials: Type.Optional(Credentials),
    api_url: ApiUrl,
    phone_number_id: readOnly.own,
    workspace_id: readOnly.own,
    provider: readOnly.own,
    phone_number: readOnly.own,
    ...SIP_SHOWN,
    places_calls: readOnly.flag,
    supports_outbound: readOnly.flag,
    belongs_to_another: readOnly.flag,
    status: readOnly.text,
    status_detail: readOnly.text,
    answer_url: readOnly.text,
    created_at: readOnly.text,
    updated_at: readOnly.text,
  },
  { examples: [{ enabled: false }] },
);
export type PhoneNumberChange = Static<typeof PhoneNumberChange>;

export const PhoneNumberEntity = Type.Object(
  {
    phone_number_id: Type.String(),
    workspace_id: Type.String(),
    provider: Type.Enum([...PHONE_PROVIDERS]),
    phone_number: text(agent.transferNumber),
    label: Type.String(),
    agent_id: nullable(Type.String()),
    enabled: Type.Boolean(),
    places_calls: Type.Boolean({
      description: 'Whether it has the credentials for placing calls.',
    }),
    supports_outbound: Type.Boolean({ description: 'The same as `places_calls`.' }),
    status: Type.Enum([...NUMBER_STATUSES], {
      description:
        '`error`: its calls do not come here, and `status_detail` says why. Others are `active`; the rest is of other platforms.',
    }),
    status_detail: Type.String(),
    ...SIP_SHOWN,
    api_url: nullable(Type.String()),
    answer_url: Type.String({
      description:
        'Address of the webhook to enter at the provider; for `exotel` and `genesys` that of the media stream. It takes the ' +
        'calls of all numbers that the workspace has at this provider, and of no other workspace. Keep it to yourself.',
    }),
    belongs_to_another: Type.Optional(
      Type.Boolean({
        description:
          'Only where it is true, and only of `sip`: another workspace has registered the number before, and gets its calls. ' +
          'The gateway’s operator can settle whose it is.',
      }),
    ),
    created_at: Moment,
    updated_at: Moment,
  },
  {
    title: 'PhoneNumber',
    examples: [
      {
        phone_number_id: 'phone_5f0c8a1b2c3d4e5f60718293',
        workspace_id: 'ws_0a1b2c3d4e5f60718293a4b5',
        provider: 'twilio',
        phone_number: '+493012345678',
        label: 'Bakery',
        agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        enabled: true,
        places_calls: false,
        supports_outbound: false,
        status: 'active',
        status_detail: '',
        api_url: null,
        answer_url:
          'https://speech.example.com/v1/phone/twilio/answer/3f1c0e9a5b7d4c2e8a6f1b3d5c7e9f02b4d6f8a1c3e5d7f9b2a4c6e8d0f1a3b5',
        created_at: '2026-01-01T12:00:00.000Z',
        updated_at: '2026-01-01T12:00:00.000Z',
      },
    ],
  },
);
