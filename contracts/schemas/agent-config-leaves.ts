/**
 * The leaves of an agent's configuration (agent-config.ts): each field of its sections, with its bounds and what it is for. Schemas of
 * what is read and of what clients change are made of them.
 */
import { LANGUAGES } from '../speech/languages.js';
import { LIMITS } from '../limits.js';
import { AGENT_VOICEMAIL_ACTIONS } from '../phone/phone.js';
import { DETECTORS } from '../ports/speech/turns.js';
import { LLM_LEAVES } from './agent-model.js';
import { WIDGET_LEAVES } from './agent-widget.js';
import { nullable, text, whole } from './shapes.js';
import { type TProperties, type TSchema, Type } from './type.js';

const { agent, analysis } = LIMITS;

export const list = <S extends TSchema>(item: S, maxItems: number, extra: object = {}) =>
  Type.Array(item, { maxItems, ...extra });

const Ids = (maxItems: number) => list(text(agent.reference), maxItems);

/** Fields of list items: required ones, and those with defaults. */
export const TRANSFER = {
  type: Type.Enum(['phone'], { default: 'phone' }),
  label: text(agent.transferLabel, { default: '' }),
  phone_number: text(agent.transferNumber),
  mode: Type.Enum(['cold', 'warm'], { default: 'cold' }),
  warm_connect: Type.Enum(['confirm', 'direct'], { default: 'confirm' }),
};
export const DATA_FIELD = {
  name: Type.String({ pattern: analysis.namePattern }),
  type: Type.Enum(['boolean', 'text', 'number', 'enum'], { default: 'text' }),
  description: text(analysis.description, { default: '' }),
  enum_options: nullable(
    Type.Array(text(analysis.enumOption), {
      minItems: analysis.enumOptions.min,
      maxItems: analysis.enumOptions.max,
      default: null,
    }),
  ),
};
export const CRITERION = {
  name: Type.String({ pattern: analysis.namePattern }),
  description: text(analysis.description, { default: '' }),
};

export const TRANSFER_AGENT = {
  agent_id: text(agent.reference),
  description: text(agent.transferDescription, {
    default: '',
    description: 'Written for the model: when to hand the call over to this agent.',
  }),
};

/** Of placed calls. */
export const MACHINE_DETECTION = Type.Boolean({
  description:
    'Whether the provider detects answering machines on placed calls. Providers charge for that. Not over SIP.',
});
export const VOICEMAIL = {
  action: Type.Enum([...AGENT_VOICEMAIL_ACTIONS], {
    default: 'hangup',
    description:
      'If a machine answers: the call ends (`hangup`), once `message` was left as it is (`leave_message`), or what the model writes from ' +
      'it (`leave_prompt_message`).',
  }),
  message: text(agent.voicemailMessage, { default: '', description: 'Variables are filled in.' }),
};

export const LEAVES = {
  prompt: {
    system_prompt: text(agent.systemPromptLength, {
      description: `Up to ${agent.systemPromptTokens.toLocaleString('en')} tokens (o200k_base).`,
    }),
    first_message_mode: Type.Enum(['off', 'fixed', 'prompt'], {
      description:
        'Who speaks first: the user (`off`), or the agent: `first_message` as it is (`fixed`), or what the model makes of ' +
        '`first_message_prompt` (`prompt`).',
    }),
    first_message: text(agent.firstMessage, { description: 'Said in mode `fixed`.' }),
    first_message_prompt: text(agent.firstMessage, { description: 'Told to the model in mode `prompt`.' }),
  },
  voice: {
    voice_id: text(agent.voiceId, { description: 'A voice of the library; `default` is the default voice.' }),
    speaking_language: Type.Enum([...LANGUAGES]),
    languages: nullable(
      list(Type.Enum([...LANGUAGES]), agent.languages, {
        description:
          'The languages in which callers may speak, beside `speaking_language`, in which the call begins: the agent goes on in the one that ' +
          'the caller changes to. Null: only `speaking_language`.',
      }),
    ),
    expressive: Type.Boolean({
      description:
        'Whether the model writes cues for the delivery (emotions, pauses, laughter), for voices whose engine follows them. They are in no ' +
        'transcript.',
    }),
  },
  conversation: {
    max_duration_seconds: whole(agent.maxDurationSeconds),
    eagerness: Type.Enum(['relaxed', 'balanced', 'eager'], {
      description: 'How soon a pause counts as the end of the user’s turn.',
    }),
    drafts: Type.Boolean({
      description:
        'Whether answers are drafted before it is certain that the user has finished: they come sooner, and cost some extra tokens.',
    }),
    turn_detector: Type.Enum(['auto', ...DETECTORS], {
      description:
        "What decides that the user's turn is over: words and pauses (`tables`), a model that listens (`audio`), `both`, or the gateway’s " +
        'own setting (`auto`). Without the model, words and pauses decide.',
    }),
    noise_reduction: Type.Boolean({
      description:
        'Whether noise is removed from what the user says before it is transcribed, if the gateway has a model for it.',
    }),
    interruptible: Type.Boolean({ description: 'Whether the user can interrupt the agent.' }),
    interruption_sensitivity: Type.Enum(['low', 'balanced', 'high'], {
      description: 'How easily the user interrupts the agent.',
    }),
    reengage_enabled: Type.Boolean({
      description: 'Whether the agent asks again if the user says nothing.',
    }),
    hangup_after_seconds: nullable(
      whole(agent.hangupAfterSeconds, {
        description:
          'The call ends after so many seconds in which neither side says anything. Empty: it does not end for that.',
      }),
    ),
    hangup_farewell_enabled: Type.Boolean({
      description: 'Whether the agent says goodbye, in its language, before it ends such a call.',
    }),
    record_audio: Type.Boolean({ description: 'Whether both sides of its calls are recorded.' }),
    timezone: text(agent.timezone, { description: 'IANA name; empty for none.' }),
    recovery_mode: Type.Enum(['auto', 'fixed', 'off'], {
      description:
        'What the agent says when a call continues after its machine was lost: a line in its language, `recovery_message`, or nothing.',
    }),
    recovery_message: text(agent.recovery, { description: 'Said in mode `fixed`.' }),
  },
  guardrails: {
    focus: Type.Boolean({
      description:
        'Adds a paragraph to the instructions: the agent stays with its task, and does not go into anything else.',
    }),
    manipulation: Type.Boolean({
      description:
        'Adds a paragraph to the instructions: what callers, tools and documents say changes neither the instructions nor the agent’s role, ' +
        'and the instructions are not told.',
    }),
  },
  tools: {
    enabled: Type.Boolean({ description: 'Whether the agent uses the selected tools.' }),
    tool_ids: Ids(agent.tools),
    filler_mode: Type.Enum(['auto', 'fixed', 'off'], {
      description:
        'What the agent says while tools take longer than a second: a line in its language, `filler_message`, or nothing.',
    }),
    filler_message: text(agent.filler, { description: 'Said in mode `fixed`.' }),
  },
  llm: LLM_LEAVES,
  knowledge_base: {
    enabled: Type.Boolean({
      description: 'Whether the agent looks things up in the selected sources.',
    }),
    knowledge_source_ids: Ids(agent.knowledgeSources),
  },
  widget: WIDGET_LEAVES,
} as const satisfies Record<string, TProperties>;

export const SYSTEM_TOOLS = {
  hang_up_call: Type.Boolean({ description: 'The agent may end the call.' }),
  send_digits: Type.Boolean({
    description: 'On phone calls only: the agent may press keys, for the menus of others.',
  }),
};
