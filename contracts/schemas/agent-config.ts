/**
 * An agent's configuration (docs/contract/platform.md 6.3; docs/contract/platform.md 6.3): its sections as
 * stored and read, as changed by clients, and a new agent's defaults. A new field is a line in LEAVES
 * (agent-config-leaves.ts) and one in DEFAULT_CONFIG; rows that lack it read as the default.
 */
import { LIMITS } from '../limits.js';
import { DEFAULT_WEBHOOKS, Webhooks, WebhooksChange } from './agent-webhooks.js';
import { DEFAULT_WIDGET } from './agent-widget.js';
import {
  CRITERION,
  DATA_FIELD,
  LEAVES,
  list,
  MACHINE_DETECTION,
  SYSTEM_TOOLS,
  TRANSFER,
  TRANSFER_AGENT,
  VOICEMAIL,
} from './agent-config-leaves.js';
import { leaf, Moment, nullable, strict, text } from './shapes.js';
import { type Static, type TProperties, type TSchema, Type } from './type.js';
import { CUSTOM_CHANGE, CustomModel } from './agent-model.js';
import { readOnly } from './write-only.js';

const { agent, analysis } = LIMITS;

export const SUMMARY_LANGUAGES = ['en', 'zh', 'ja', 'ko', 'es', 'fr', 'de', 'pt', 'ru', 'ar'] as const;

const SUMMARY_PROMPT = nullable(text(analysis.summaryPrompt));

export const AgentConfig = Type.Object({
  prompt: Type.Object(LEAVES.prompt),
  voice: Type.Object(LEAVES.voice),
  conversation: Type.Object({
    ...LEAVES.conversation,
    transfer_destinations: list(Type.Object(TRANSFER), agent.transferDestinations),
    outbound: Type.Object({
      amd_enabled: MACHINE_DETECTION,
      voicemail: nullable(Type.Object(VOICEMAIL)),
    }),
  }),
  guardrails: Type.Object(LEAVES.guardrails),
  tools: Type.Object({
    ...LEAVES.tools,
    transfer_agents: list(Type.Object(TRANSFER_AGENT), agent.transferAgents),
    system_tools: Type.Object(SYSTEM_TOOLS),
  }),
  webhooks: Webhooks,
  llm: Type.Object({ ...LEAVES.llm, custom: nullable(CustomModel) }),
  knowledge_base: Type.Object(LEAVES.knowledge_base),
  widget: Type.Object(LEAVES.widget),
  analysis: Type.Object({
    summary: Type.Object({
      enabled: Type.Boolean(),
      prompt: SUMMARY_PROMPT,
      language: Type.Enum([...SUMMARY_LANGUAGES]),
    }),
    data_fields: list(Type.Object(DATA_FIELD), analysis.dataFields),
    criteria: list(Type.Object(CRITERION), analysis.criteria),
  }),
});
export type AgentConfig = Static<typeof AgentConfig>;

/** Whether the agent begins the conversation itself. */
export const speaksFirst = ({ prompt }: Pick<AgentConfig, 'prompt'>): boolean =>
  prompt.first_message_mode === 'prompt' ||
  (prompt.first_message_mode === 'fixed' && prompt.first_message.trim() !== '');

/** A row for each property. The caller asserts the result's type: comparing schemas costs the compiler half a minute. */
const eachProperty = (properties: TProperties, change: (schema: TSchema, name: string) => TSchema): unknown =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, change(schema, name)]));

/** All fields optional and nullable. */
const leavesOf = <P extends TProperties>(properties: P) =>
  eachProperty(properties, leaf) as { [K in keyof P]: ReturnType<typeof leaf<P[K]>> };

/** All fields optional except `required`. */
const itemOf = <P extends TProperties, K extends keyof P>(properties: P, required: K) =>
  strict(
    eachProperty(properties, (schema, name) => (name === required ? schema : Type.Optional(schema))) as {
      [N in keyof P]: N extends K ? P[N] : ReturnType<typeof Type.Optional<P[N]>>;
    },
  );

const SECTIONS = {
  prompt: leaf(strict(leavesOf(LEAVES.prompt))),
  voice: leaf(strict(leavesOf(LEAVES.voice))),
  conversation: leaf(
    strict({
      ...leavesOf(LEAVES.conversation),
      transfer_destinations: leaf(
        list(itemOf(TRANSFER, 'phone_number'), agent.transferDestinations, {
          description: 'Telephone numbers to which the agent may connect callers on the phone.',
        }),
      ),
      outbound: leaf(
        strict(
          { amd_enabled: leaf(MACHINE_DETECTION), voicemail: leaf(strict(leavesOf(VOICEMAIL))) },
          { description: 'Calls that are placed. A call’s own `voicemail` wins.' },
        ),
      ),
    }),
  ),
  guardrails: leaf(strict(leavesOf(LEAVES.guardrails))),
  tools: leaf(
    strict({
      ...leavesOf(LEAVES.tools),
      transfer_agents: leaf(
        list(itemOf(TRANSFER_AGENT, 'agent_id'), agent.transferAgents, {
          description: 'Agents of the workspace to which this one may hand a call over.',
        }),
      ),
      system_tools: leaf(strict(leavesOf(SYSTEM_TOOLS))),
    }),
  ),
  webhooks: leaf(WebhooksChange),
  llm: leaf(
    strict({
      ...leavesOf(LEAVES.llm),
      custom: leaf(
        strict(CUSTOM_CHANGE, {
          description:
            'A language model of the agent’s own, in place of the gateway’s: it is never replaced by another one. Null goes back to the tier; ' +
            'not together with a tier other than `medium`.',
        }),
      ),
    }),
  ),
  knowledge_base: leaf(strict(leavesOf(LEAVES.knowledge_base))),
  widget: leaf(strict(leavesOf(LEAVES.widget))),
  analysis: leaf(
    strict({
      summary: leaf(
        strict({
          enabled: Type.Optional(
            Type.Boolean({ default: true, description: 'Whether a summary is written after each call.' }),
          ),
          prompt: Type.Optional(SUMMARY_PROMPT),
          language: Type.Optional(Type.Enum([...SUMMARY_LANGUAGES], { default: 'en' })),
        }),
      ),
      data_fields: leaf(
        list(itemOf(DATA_FIELD, 'name'), analysis.dataFields, {
          description: 'Values to extract from each call.',
        }),
      ),
      criteria: leaf(
        list(itemOf(CRITERION, 'name'), analysis.criteria, {
          description: 'Criteria by which each call is judged.',
        }),
      ),
    }),
  ),
};

const EXAMPLES = [
  { prompt: { system_prompt: 'You help the callers of a bakery.' }, voice: { speaking_language: 'en' } },
];

export const ConfigChanges = strict(SECTIONS, { examples: EXAMPLES });
export type ConfigChanges = Static<typeof ConfigChanges>;

/** The same for an existing configuration, with the fields that reads show besides the sections. */
export const ConfigPatch = strict(
  { ...SECTIONS, agent_id: readOnly.own, config_hash: readOnly.text, updated_at: readOnly.text },
  { examples: EXAMPLES },
);

/** The configuration of a new agent. The operator chooses whether it records: see `initialConfig`. */
export const DEFAULT_CONFIG: AgentConfig = {
  prompt: {
    system_prompt: '',
    first_message_mode: 'prompt',
    first_message: 'Hi! Thanks for calling — how can I help you today?',
    first_message_prompt: 'Greet the caller and ask what you can help with.',
  },
  voice: { voice_id: 'default', speaking_language: 'en', languages: null, expressive: false },
  conversation: {
    max_duration_seconds: 1800,
    eagerness: 'balanced',
    drafts: true,
    turn_detector: 'auto',
    noise_reduction: false,
    interruptible: true,
    interruption_sensitivity: 'balanced',
    reengage_enabled: false,
    hangup_after_seconds: null,
    hangup_farewell_enabled: false,
    record_audio: false,
    timezone: '',
    recovery_mode: 'auto',
    recovery_message: '',
    transfer_destinations: [],
    outbound: { amd_enabled: false, voicemail: null },
  },
  guardrails: { focus: false, manipulation: false },
  tools: {
    enabled: true,
    tool_ids: [],
    filler_mode: 'auto',
    filler_message: '',
    transfer_agents: [],
    system_tools: { hang_up_call: false, send_digits: false },
  },
  webhooks: DEFAULT_WEBHOOKS,
  llm: { tier: 'medium', custom: null },
  knowledge_base: { enabled: false, knowledge_source_ids: [] },
  widget: DEFAULT_WIDGET,
  analysis: { summary: { enabled: true, prompt: null, language: 'en' }, data_fields: [], criteria: [] },
};

/** The configuration of a new agent; `recordsAudio`: calls are recorded by default. */
export const initialConfig = (recordsAudio: boolean): AgentConfig => ({
  ...DEFAULT_CONFIG,
  conversation: { ...DEFAULT_CONFIG.conversation, record_audio: recordsAudio },
});

/** Defaults of fields that a client leaves out of list items. */
export const ITEM_DEFAULTS = {
  transfer_agents: { description: '' },
  transfer_destinations: { type: 'phone', label: '', mode: 'cold', warm_connect: 'confirm' },
  data_fields: { type: 'text', description: '', enum_options: null },
  criteria: { description: '' },
} as const;

/** Objects that may be null, and their fields where a client leaves some out. Null takes them back to the default, as a leaf. */
export const OBJECT_DEFAULTS = {
  outbound: DEFAULT_CONFIG.conversation.outbound,
  voicemail: { action: 'hangup', message: '' },
} as const;

export const CONFIG_EXAMPLE = {
  agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
  config_hash: 'sha256:2f1c0a9d8b7e6f5a4c3b2a190817263544f3e2d1c0b9a8877665544332211000',
  ...DEFAULT_CONFIG,
  updated_at: '2026-01-01T12:00:00.000Z',
};

/** The configuration as read. */
export const ConfigEntity = Type.Object(
  {
    agent_id: Type.String(),
    config_hash: Type.String({
      description: 'Equals that of the newest version if there are no unpublished changes.',
    }),
    ...AgentConfig.properties,
    updated_at: Moment,
  },
  { title: 'AgentConfig', examples: [CONFIG_EXAMPLE] },
);
