/**
 * What no schema says of a configuration: addresses that deliveries may go to, each once; a prompt of few enough
 * tokens. And what will not work as an agent is configured, told when it is published (decisions.md fine point 10).
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { VoiceLibrary } from '../../../contracts/ports/voices.js';
import type { AgentConfig, ConfigChanges } from '../../../contracts/schemas/agent-config.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import { isTimezone } from '../../../contracts/timezones.js';
import { problem } from './errors.js';
import type { PlatformParts } from './parts.js';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One object stands for a list of one (spec "webhooks"). */
export function listingPostCall(config: unknown): unknown {
  if (!isObject(config) || !isObject(config['webhooks'])) return config;
  const { post_call: hook, ...rest } = config['webhooks'];
  return isObject(hook) ? { ...config, webhooks: { ...rest, post_call: [hook] } } : config;
}

type Outbound = PlatformParts['outbound'];

const sameAddress = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);

function webhookProblems({ webhooks }: ConfigChanges, outbound: Outbound): Problem[] {
  const hooks = webhooks?.post_call ?? [];
  const addresses = hooks.map(({ url }) => sameAddress(url));
  return hooks.flatMap(({ url }, index) => {
    const loc = ['webhooks', 'post_call', index, 'url'];
    const refusal = outbound.checkUrl(url);
    if (refusal !== undefined) return [problem(loc, `${loc.join('.')} ${refusal}`, 'url')];
    const isFirst = addresses.indexOf(addresses[index] ?? '') === index;
    return isFirst ? [] : [problem(loc, `${loc.join('.')} must be unique`, 'unique')];
  });
}

async function promptProblems(
  { prompt }: ConfigChanges,
  tokens: PlatformParts['tokens'],
): Promise<Problem[]> {
  const text = prompt?.system_prompt ?? '';
  const most = LIMITS.agent.systemPromptTokens;
  if (!(await tokens.exceeds(text, most))) return [];
  return [
    problem(['prompt', 'system_prompt'], `prompt.system_prompt must have at most ${most} tokens`, 'tokens'),
  ];
}

/** Everything that is wrong with a change whose shape is right. */
export async function configProblems(
  changes: ConfigChanges,
  workspaceId: string,
  { agents, outbound, tokens }: Pick<PlatformParts, 'agents' | 'outbound' | 'tokens'>,
): Promise<Problem[]> {
  const tools = changes.tools?.tool_ids ?? [];
  const sources = changes.knowledge_base?.knowledge_source_ids ?? [];
  return [
    ...(await promptProblems(changes, tokens)),
    ...webhookProblems(changes, outbound),
    ...(await agents.missing({ tools, sources }, workspaceId)),
  ];
}

const DEFAULT_VOICES = new Set(['', 'default']);

async function voiceWarning(
  { voice_id: id, speaking_language: language }: AgentConfig['voice'],
  workspaceId: string,
  { voices, languages }: { readonly voices: VoiceLibrary; readonly languages: PlatformParts['languages'] },
): Promise<string | undefined> {
  if (DEFAULT_VOICES.has(id)) return languages.speaks(language) ? undefined : `No voice speaks "${language}"`;
  const voice = await voices.find(id, workspaceId);
  if (!voice) return `No voice "${id}" in the voice library`;
  const mute = voice.kind === 'engine' && !voice.languages.includes(language);
  return mute ? `The voice "${id}" does not speak "${language}"` : undefined;
}

/** What will not work as this agent is configured; it is published all the same. */
export async function warningsOf(
  { voice, conversation, analysis }: AgentConfig,
  workspaceId: string,
  parts: Pick<PlatformParts, 'voices' | 'languages'>,
): Promise<string[]> {
  const { speaking_language: language } = voice;
  const { timezone } = conversation;
  const optionless = analysis.data_fields.filter(
    ({ type, enum_options: options }) => type === 'enum' && !options,
  );
  const warnings = [
    parts.languages.hears(language) ? undefined : `No speech recognition for "${language}"`,
    await voiceWarning(voice, workspaceId, parts),
    timezone === '' || isTimezone(timezone) ? undefined : `Unknown time zone "${timezone}"`,
    ...optionless.map(({ name }) => `The data field "${name}" has no options to choose from`),
  ];
  return warnings.filter((warning) => warning !== undefined);
}
