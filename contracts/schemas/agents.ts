/** Agents and their versions on the wire (docs/contract/platform.md 6.1; docs/contract/platform.md 6.1 and 6.4). */
import { LIMITS } from '../limits.js';
import { CONFIG_EXAMPLE, ConfigChanges, ConfigEntity } from './agent-config.js';
import { Moment, nullable, strict, text } from './shapes.js';
import { type Static, Type } from './type.js';
import { readOnly } from './write-only.js';

const limits = LIMITS.agent;

export const OVERRIDES = ['first_message', 'system_prompt', 'voice_id', 'language'] as const;
export type Override = (typeof OVERRIDES)[number];

export const AGENT_STATUSES = ['active', 'archived'] as const;
export const PUBLICATION_STATES = ['live', 'draft'] as const;

const Name = text(limits.name);
const Description = text(limits.description, { default: '' });
const Origins = Type.Array(text(limits.origin), {
  maxItems: limits.allowedOrigins,
  description: 'Origins of pages that may start sessions without a key.',
});
const Overrides = Type.Array(Type.Enum([...OVERRIDES]), {
  maxItems: limits.overridesAllowed,
  description: 'What a session may change. Allowing `first_message` also allows `first_message_prompt`.',
});

export const AgentEntity = Type.Object(
  {
    agent_id: Type.String(),
    workspace_id: Type.String(),
    name: Name,
    description: Description,
    status: Type.Enum([...AGENT_STATUSES]),
    publication_state: Type.Enum([...PUBLICATION_STATES]),
    public_enabled: Type.Boolean({ default: false }),
    allowed_origins: Origins,
    overrides_allowed: Overrides,
    created_at: Moment,
    updated_at: Moment,
  },
  {
    title: 'Agent',
    examples: [
      {
        agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        workspace_id: 'ws_0a1b2c3d4e5f60718293a4b5',
        name: 'Bakery',
        description: '',
        status: 'active',
        publication_state: 'draft',
        public_enabled: false,
        allowed_origins: [],
        overrides_allowed: [],
        created_at: '2026-01-01T12:00:00.000Z',
        updated_at: '2026-01-01T12:00:00.000Z',
      },
    ],
  },
);
export type AgentEntity = Static<typeof AgentEntity>;

export const AgentCreation = strict(
  {
    name: Name,
    description: Type.Optional(Description),
    config: Type.Optional(nullable(ConfigChanges)),
  },
  {
    examples: [
      { name: 'Bakery', config: { prompt: { system_prompt: 'You help the callers of a bakery.' } } },
    ],
  },
);
export type AgentCreation = Static<typeof AgentCreation>;

export const AgentChange = strict(
  {
    name: Type.Optional(Name),
    description: Type.Optional(text(limits.description)),
    status: Type.Optional(Type.Enum([...AGENT_STATUSES])),
    public_enabled: Type.Optional(Type.Boolean()),
    allowed_origins: Type.Optional(Origins),
    overrides_allowed: Type.Optional(Overrides),
    agent_id: readOnly.own,
    workspace_id: readOnly.own,
    publication_state: readOnly.own,
    created_at: readOnly.text,
    updated_at: readOnly.text,
  },
  { examples: [{ public_enabled: true, allowed_origins: ['https://www.example.com'] }] },
);
export type AgentChange = Static<typeof AgentChange>;

export const Publication = strict(
  {
    version_title: Type.Optional(nullable(text(limits.versionTitle))),
    version_description: Type.Optional(nullable(text(limits.versionDescription))),
  },
  { examples: [{ version_title: 'Opening hours' }] },
);
export type Publication = Static<typeof Publication>;

const SUMMARY = {
  version_number: Type.Integer({ minimum: 1 }),
  version_title: nullable(Type.String()),
  version_description: nullable(Type.String()),
  config_hash: Type.String(),
  published_at: Moment,
};

const SUMMARY_EXAMPLE = {
  version_number: 1,
  version_title: 'Opening hours',
  version_description: null,
  config_hash: 'sha256:2f1c0a9d8b7e6f5a4c3b2a190817263544f3e2d1c0b9a8877665544332211000',
  published_at: '2026-01-01T12:00:00.000Z',
};

export const VersionSummary = Type.Object(SUMMARY, { title: 'VersionSummary', examples: [SUMMARY_EXAMPLE] });

/** The answer to publishing. */
export const Published = Type.Object(
  {
    ...SUMMARY,
    warnings: Type.Array(Type.String(), { description: 'Parts of the configuration that will not work.' }),
  },
  { title: 'PublishedVersion', examples: [{ ...SUMMARY_EXAMPLE, warnings: [] }] },
);

export const VersionDetail = Type.Object(
  { ...SUMMARY, config: ConfigEntity },
  { title: 'Version', examples: [{ ...SUMMARY_EXAMPLE, config: CONFIG_EXAMPLE }] },
);

export const AgentReferences = Type.Object(
  {
    agents: Type.Array(Type.Object({ agent_id: Type.String(), name: Type.String() })),
    total: Type.Integer(),
  },
  {
    title: 'AgentReferences',
    examples: [{ agents: [{ agent_id: 'agent_5f0c8a1b2c3d4e5f60718293', name: 'Bakery' }], total: 1 }],
  },
);
