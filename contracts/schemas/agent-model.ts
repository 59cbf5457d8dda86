/** The language model of an agent (docs/contract/platform.md 6.3 `llm`): which, and one that is tried out. */
import { LIMITS } from '../limits.js';
import { leaf, nullable, strict, text } from './shapes.js';
import { type Static, Type } from './type.js';

const { agent } = LIMITS;

/** The gateway's language models. */
export const LLM_TIERS = ['instant', 'medium', 'high'] as const;
export type LlmTier = (typeof LLM_TIERS)[number];

export const LLM_LEAVES = {
  tier: Type.Enum([...LLM_TIERS], {
    description:
      'Which of the gateway’s language models the agent thinks with: one that answers sooner (`instant`), the usual one (`medium`), or one ' +
      'that thinks better (`high`). Where the operator has set up only one, it is that one.',
  }),
};

const CUSTOM = {
  base_url: text(agent.llm.baseUrl, {
    description:
      'OpenAI-compatible server, including /v1: https, a public host, no query and no fragment. A trailing `/chat/completions` is cut off.',
  }),
  model: text(agent.llm.model, { description: 'Sent as it is.' }),
};

/** An agent's own model as stored and read: the key is kept apart. */
export const CustomModel = Type.Object({
  ...CUSTOM,
  api_key: Type.Null({ description: 'Never shown.' }),
  has_secret: Type.Boolean({ description: 'Whether a key is kept.' }),
});
export type CustomModel = Static<typeof CustomModel>;

/** As a client changes it. */
export const CUSTOM_CHANGE = {
  ...CUSTOM,
  api_key: leaf(
    text(agent.llm.apiKey, {
      description:
        'Bearer token; needed when the model is introduced. Absent or null later keeps the stored one. A new one takes effect at once, also ' +
        'for published versions with the same address.',
    }),
  ),
  has_secret: Type.Optional(
    Type.Boolean({ description: 'May be sent as it was read, and is not looked at.' }),
  ),
};

/** A model to try out; what is absent is the draft's. */
export const ModelTest = strict(
  { tier: leaf(LLM_LEAVES.tier), custom: leaf(strict(CUSTOM_CHANGE)) },
  {
    description: 'Empty: the draft’s. Without `api_key` the stored key is sent, to its own address only.',
    examples: [{ custom: { base_url: 'https://llm.example.com/v1', model: 'wise-1', api_key: 'secret' } }],
  },
);
export type ModelTest = Static<typeof ModelTest>;

export const ModelTestResult = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether it answered.' }),
    first_token_ms: nullable(Type.Integer({ description: 'To its first word or tool call.' })),
    model: Type.String({ description: 'The name that was asked for.' }),
    calls_tools: Type.Boolean({
      description:
        'Whether it called the tool that it was asked to call; without that an agent’s tools do not work.',
    }),
    error: nullable(Type.String({ description: 'What is wrong, in words.' })),
  },
  {
    title: 'ModelTestResult',
    examples: [{ ok: true, first_token_ms: 240, model: 'wise-1', calls_tools: true, error: null }],
  },
);
export type ModelTestResult = Static<typeof ModelTestResult>;
