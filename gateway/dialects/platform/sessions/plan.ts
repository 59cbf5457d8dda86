/**
 * The plan of a session, fixed when it is created: the version's configuration with the overrides, the rendered prompt,
 * and the timezone (of the request, else the agent, else the browser, else the country
 * of the person's number, else UTC).
 */
import { plannedTools, renderPrompt, type Variables } from '../../../../contracts/agents/plan.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { type SystemVariables, systemVariablesOf } from '../../../../contracts/agents/system-variables.js';
import { zoneOfNumber } from '../../../../contracts/phone/number-zones.js';
import type { PhoneLeg } from '../../../../contracts/phone/phone.js';
import type { RunnableVersion } from '../../../../contracts/ports/agents/agents.js';
import type { PinnedAgent, SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';
import type { AgentConfig } from '../../../../contracts/schemas/agent-config.js';
import { DEFAULT_WEBHOOKS } from '../../../../contracts/schemas/agent-webhooks.js';
import { problem, refuse } from '../errors.js';
import type { SessionFields } from './request.js';
import { sentOverrides, variablesOf } from './values.js';
import { agentVoicemail } from './voicemail.js';

type Prompt = AgentConfig['prompt'];

/** An opener in the request wins over the agent's mode. */
function openingOf(prompt: Prompt, overrides: ReturnType<typeof sentOverrides>): Prompt {
  const { first_message: spoken, first_message_prompt: prompted } = overrides;
  if (spoken !== undefined) return { ...prompt, first_message_mode: 'fixed', first_message: spoken };
  if (prompted !== undefined)
    return { ...prompt, first_message_mode: 'prompt', first_message_prompt: prompted };
  return prompt;
}

/** Errors: `validation_failed` if a rendered text is too long. */
function promptOf(prompt: Prompt, wanted: SessionFields, system: SystemVariables): Prompt {
  const rendered = renderPrompt(prompt, { ...variablesOf(wanted), ...system });
  if ('prompt' in rendered) return rendered.prompt;
  const most = LIMITS.session.renderedLength;
  const problems = rendered.tooLong.map((name) =>
    problem(['dynamic_variables'], `${name} is longer than ${most} characters with its variables`),
  );
  refuse(problems);
  return prompt;
}

type Voice = AgentConfig['voice'];

function voiceOf({ voice_id, speaking_language, ...voice }: Voice, wanted: SessionFields): Voice {
  const { voice_id: id = voice_id, language = speaking_language } = sentOverrides(wanted);
  return { ...voice, voice_id: id, speaking_language: language as Voice['speaking_language'] };
}

function configOf(
  { config }: RunnableVersion,
  wanted: SessionFields,
  isPreview: boolean,
  system: SystemVariables,
): AgentConfig {
  const overrides = sentOverrides(wanted);
  const { system_prompt: own } = overrides;
  const prompt = openingOf({ ...config.prompt, ...(own !== undefined && { system_prompt: own }) }, overrides);
  return {
    ...config,
    prompt: promptOf(prompt, wanted, system),
    voice: voiceOf(config.voice, wanted),
    ...(isPreview && { webhooks: DEFAULT_WEBHOOKS }),
  };
}

/** Errors: `validation_failed` if the message is too long with its variables. */
const voicemailOf = ({ config }: RunnableVersion, wanted: SessionFields, system: SystemVariables) =>
  agentVoicemail(
    config.conversation.outbound,
    { ...variablesOf(wanted), ...system },
    voiceOf(config.voice, wanted).speaking_language,
  );

const timezoneOf = (
  { timezone, client_timezone: hint }: SessionFields,
  { conversation }: AgentConfig,
  leg: PhoneLeg | undefined,
): string => timezone ?? (conversation.timezone || (hint ?? zoneOfNumber(leg?.callerNumber) ?? 'UTC'));

/** An agent's longest duration is that of a call. */
function secondsOf(longest: number, isPreview: boolean, inWriting: boolean): number {
  if (inWriting) return LIMITS.agentChat.seconds;
  return isPreview ? Math.min(longest, LIMITS.session.previewSeconds) : longest;
}

/** Words that the caller may say: short texts among the variables. */
const termsOf = (variables: Variables): readonly string[] =>
  Object.values(variables).filter(
    (value): value is string => typeof value === 'string' && value.length <= LIMITS.session.expectedWord,
  );

/** What a session is made for, beside its request. */
interface Circumstances {
  readonly now: Date;
  readonly leg?: PhoneLeg | undefined;
  readonly inWriting?: boolean;
  /** All that the call may be handed over to. */
  readonly agents?: readonly PinnedAgent[];
}

/** Errors: `validation_failed`. */
export function planOf(
  version: RunnableVersion,
  wanted: SessionFields,
  isPreview: boolean,
  { now, leg, inWriting = false, agents = [] }: Circumstances,
): SessionPlan {
  const timezone = timezoneOf(wanted, version.config, leg);
  const { speaking_language: language } = voiceOf(version.config.voice, wanted);
  const system = systemVariablesOf({ leg, inWriting, timezone, language, now });
  const config = configOf(version, wanted, isPreview, system);
  const voicemail = leg?.direction === 'outbound' ? voicemailOf(version, wanted, system) : null;
  const variables = variablesOf(wanted);
  const terms = termsOf(variables);
  const { max_duration_seconds: longest, record_audio: records } = config.conversation;
  return {
    config,
    tools: plannedTools(version),
    knowledge: version.knowledge,
    configHash: version.configHash,
    maxDurationSeconds: secondsOf(longest, isPreview, inWriting),
    recordAudio: !inWriting && (wanted.record_audio ?? records),
    toolEvents: wanted.tool_events ?? true,
    worldContext: wanted.world_context ?? true,
    timezone,
    system,
    ...(voicemail && { voicemail }),
    ...(terms.length > 0 && { terms }),
    ...(agents.length > 0 && { transfers: { agents, variables } }),
  };
}
