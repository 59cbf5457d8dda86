/**
 * The plan of a session, settled once when it is made: the version's configuration, the overrides in it, every
 * placeholder of the prompt rendered, the timezone found (request, agent, browser, UTC).
 */
import { functionNames } from '../../../../contracts/function-names.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { RunnableVersion } from '../../../../contracts/ports/agents.js';
import type { PlannedTool, SessionPlan } from '../../../../contracts/ports/sessions.js';
import type { AgentConfig } from '../../../../contracts/schemas/agent-config.js';
import { problem, refuse } from '../errors.js';
import { render } from './placeholders.js';
import type { Wanted } from './request.js';
import { sentOverrides, variablesOf } from './values.js';

type Prompt = AgentConfig['prompt'];

/** An opener that was sent for this session wins over the mode. */
function openingOf(prompt: Prompt, overrides: ReturnType<typeof sentOverrides>): Prompt {
  const { first_message: spoken, first_message_prompt: prompted } = overrides;
  if (spoken !== undefined) return { ...prompt, first_message_mode: 'fixed', first_message: spoken };
  if (prompted !== undefined)
    return { ...prompt, first_message_mode: 'prompt', first_message_prompt: prompted };
  return prompt;
}

const TEXTS = ['system_prompt', 'first_message', 'first_message_prompt'] as const;

/** Errors: `validation_failed` where a rendered text is too long. */
function renderPrompt(prompt: Prompt, wanted: Wanted): Prompt {
  const variables = variablesOf(wanted);
  const rendered = TEXTS.map((name) => [name, render(prompt[name], variables)] as const);
  refuse(
    rendered
      .filter(([, text]) => text === undefined)
      .map(([name]) =>
        problem(
          ['dynamic_variables'],
          `${name} is longer than ${LIMITS.session.renderedLength} characters with its variables`,
        ),
      ),
  );
  return { ...prompt, ...Object.fromEntries(rendered) };
}

function configOf({ config }: RunnableVersion, wanted: Wanted, isPreview: boolean): AgentConfig {
  const overrides = sentOverrides(wanted);
  const { system_prompt: own, voice_id: voice, language } = overrides;
  const prompt = openingOf({ ...config.prompt, ...(own !== undefined && { system_prompt: own }) }, overrides);
  return {
    ...config,
    prompt: renderPrompt(prompt, wanted),
    voice: {
      voice_id: voice ?? config.voice.voice_id,
      speaking_language:
        (language as AgentConfig['voice']['speaking_language']) ?? config.voice.speaking_language,
    },
    ...(isPreview && { webhooks: { post_call: [] } }),
  };
}

function timezoneOf(wanted: Wanted, { conversation }: AgentConfig): string {
  return wanted.timezone ?? (conversation.timezone || (wanted.client_timezone ?? 'UTC'));
}

function plannedTools({ tools }: RunnableVersion): readonly PlannedTool[] {
  const named = tools.map(({ id, definition }) => ({
    id,
    name: definition.name,
    client: definition.tool_type === 'client',
  }));
  const names = functionNames(named);
  return tools.map(({ id, definition }) => ({ toolId: id, functionName: names.get(id) ?? id, definition }));
}

/** Errors: `validation_failed`. */
export function planOf(version: RunnableVersion, wanted: Wanted, isPreview: boolean): SessionPlan {
  const config = configOf(version, wanted, isPreview);
  const { max_duration_seconds: longest, record_audio: records } = config.conversation;
  return {
    config,
    tools: plannedTools(version),
    knowledge: version.knowledge,
    configHash: version.configHash,
    maxDurationSeconds: isPreview ? Math.min(longest, LIMITS.session.previewSeconds) : longest,
    recordAudio: wanted.record_audio ?? records,
    toolEvents: wanted.tool_events ?? true,
    worldContext: wanted.world_context ?? true,
    timezone: timezoneOf(wanted, config),
  };
}
