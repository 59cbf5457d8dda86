/**
 * Checks of a configuration beyond its schema: webhook addresses must be allowed and unique, the prompt must not have too
 * many tokens. Also warnings, at publication, about settings that will not work (docs/contract/decisions.md 10).
 */
import { commandLine } from '../../../contracts/command-line.js';
import { unknownSystemName } from '../../../contracts/agents/system-variables.js';
import { LIMITS } from '../../../contracts/limits.js';
import { type ShortNumbers, WRITTEN_ADDRESS, writtenAddress } from '../../../contracts/phone/phone.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import type { AgentConfig, ConfigChanges } from '../../../contracts/schemas/agent-config.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import type { Language } from '../../../contracts/speech/languages.js';
import { isTimezone } from '../../../contracts/time/timezones.js';
import { problem, repeatedNames } from './errors.js';
import { modelProblems } from './model-address.js';
import type { PlatformParts } from './parts.js';

/** Turns a single `post_call` object into a list of one (docs/contract/platform.md 6.3). */
export function listingPostCall(config: unknown): unknown {
  if (!isPlainObject(config) || !isPlainObject(config['webhooks'])) return config;
  const { post_call: hook, ...rest } = config['webhooks'];
  return isPlainObject(hook) ? { ...config, webhooks: { ...rest, post_call: [hook] } } : config;
}

type Outbound = PlatformParts['outbound'];
type CheckParts = Pick<
  PlatformParts,
  'agents' | 'outbound' | 'tokens' | 'shortNumbers' | 'knowledge' | 'mostPassages'
>;

const sameAddress = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);

function initProblems({ webhooks }: ConfigChanges, outbound: Outbound): Problem[] {
  const { url } = webhooks?.conversation_init ?? {};
  const refusal = url === undefined ? undefined : outbound.checkUrl(url);
  const loc = ['webhooks', 'conversation_init', 'url'];
  return refusal === undefined ? [] : [problem(loc, `${loc.join('.')} ${refusal}`, 'url')];
}

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
  workspaceId: string,
  tokens: PlatformParts['tokens'],
): Promise<Problem[]> {
  const text = prompt?.system_prompt ?? '';
  const most = LIMITS.agent.systemPromptTokens;
  if (!(await tokens.exceedsTokens(text, most, { workspaceId }))) return [];
  return [
    problem(['prompt', 'system_prompt'], `prompt.system_prompt must have at most ${most} tokens`, 'tokens'),
  ];
}

const TEXTS = ['system_prompt', 'first_message', 'first_message_prompt'] as const;

/** The texts of a change into which variables are filled, each with its place and what is stored there. */
function* textsOf({ prompt, conversation }: ConfigChanges, stored: AgentConfig | undefined) {
  for (const name of TEXTS)
    yield { loc: ['prompt', name], text: prompt?.[name], before: stored?.prompt[name] };
  yield {
    loc: ['conversation', 'outbound', 'voicemail', 'message'],
    text: conversation?.outbound?.voicemail?.message,
    before: stored?.conversation.outbound.voicemail?.message,
  };
}

/** Names of before this rule that a client sends back as it has read them are no problem; they are not filled. */
const systemProblems = (changes: ConfigChanges, stored: AgentConfig | undefined): Problem[] =>
  [...textsOf(changes, stored)].flatMap(({ loc, text, before }) => {
    const why = unknownSystemName(text ?? '', before);
    return why === undefined ? [] : [problem(loc, `${loc.join('.')} ${why}`, 'system_variable')];
  });

function timezoneProblems({ conversation }: ConfigChanges): Problem[] {
  const name = conversation?.timezone ?? '';
  if (name === '' || isTimezone(name)) return [];
  const loc = ['conversation', 'timezone'];
  return [problem(loc, `${loc.join('.')} must be an IANA timezone name, or empty`)];
}

function analysisProblems({ analysis }: ConfigChanges): Problem[] {
  const fields = analysis?.data_fields ?? [];
  const optionless = fields.flatMap(({ type, enum_options: options }, index) => {
    const loc = ['analysis', 'data_fields', index, 'enum_options'];
    const isOptionless = type === 'enum' && !options;
    return isOptionless ? [problem(loc, `${loc.join('.')} is required for an enum`, 'required')] : [];
  });
  return [
    ...optionless,
    ...repeatedNames(fields, ['analysis', 'data_fields']),
    ...repeatedNames(analysis?.criteria ?? [], ['analysis', 'criteria']),
  ];
}

/** Numbers of before this rule that a client sends back as it has read them are no problem; calls to them say why they fail. */
function destinationProblems(
  { conversation }: ConfigChanges,
  stored: AgentConfig | undefined,
  short: ShortNumbers,
): Problem[] {
  const known = new Set(stored?.conversation.transfer_destinations.map(({ phone_number: number }) => number));
  return (conversation?.transfer_destinations ?? []).flatMap(({ phone_number: number }, index) => {
    if (known.has(number) || writtenAddress(number, short) !== undefined) return [];
    const loc = ['conversation', 'transfer_destinations', index, 'phone_number'];
    return [problem(loc, `${loc.join('.')} ${WRITTEN_ADDRESS}`, 'phone_number')];
  });
}

/** By meaning, so many passages are compared one by one: more would take longer than a caller waits. */
async function passageProblems(
  sources: readonly string[],
  workspaceId: string,
  { knowledge, mostPassages }: CheckParts,
): Promise<Problem[]> {
  if (mostPassages === undefined || sources.length === 0) return [];
  const passages = await knowledge.countPassages(sources, workspaceId);
  if (passages <= mostPassages) return [];
  const loc = ['knowledge_base', 'knowledge_source_ids'];
  const message = `${loc.join('.')} have ${passages} passages together: at most ${mostPassages} can be searched by meaning`;
  return [problem(loc, `${message} without pgvector in the database`, 'passages')];
}

/**
 * All problems of a change that fits its schema. `stored`: what it changes; undefined for a new agent. `keepsKey`: whether there is a key
 * for its own language model.
 */
export async function configProblems(
  changes: ConfigChanges,
  workspaceId: string,
  parts: CheckParts,
  stored?: AgentConfig,
  keepsKey = false,
): Promise<Problem[]> {
  const { agents, outbound, tokens, shortNumbers } = parts;
  const tools = changes.tools?.tool_ids ?? [];
  const sources = changes.knowledge_base?.knowledge_source_ids ?? [];
  return [
    ...(await promptProblems(changes, workspaceId, tokens)),
    ...systemProblems(changes, stored),
    ...timezoneProblems(changes),
    ...destinationProblems(changes, stored, shortNumbers),
    ...webhookProblems(changes, outbound),
    ...modelProblems(changes, stored, keepsKey, outbound),
    ...initProblems(changes, outbound),
    ...analysisProblems(changes),
    ...(await passageProblems(sources, workspaceId, parts)),
    ...(await agents.missing({ tools, sources }, workspaceId)),
  ];
}

/** Warnings about hand-over targets that take no calls. */
export async function transferWarnings(
  { tools }: AgentConfig,
  workspaceId: string,
  { agents }: Pick<PlatformParts, 'agents'>,
): Promise<string[]> {
  const ids = tools.transfer_agents.map(({ agent_id: id }) => id);
  const found = await Promise.all(ids.map((id) => agents.read(id, workspaceId)));
  return ids
    .filter((_, index) => {
      const agent = found[index];
      return agent?.status !== 'active' || agent.lastVersion === 0;
    })
    .map((id) => `The agent "${id}" takes no calls: it is archived, not published, or not there`);
}

/** A model of the catalogue that recognises every language of agents. */
const EARS = 'whisper-base';

const unheard = (language: Language): string =>
  `No speech recognition for "${language}": sessions are refused until there is one, for example by ` +
  `"${commandLine('models', `add ${EARS}`)}" and a restart`;

/** Why the call does not change its language to those that are set. */
function languagesWarning(
  { speaking_language: own, languages }: AgentConfig['voice'],
  { tellsApart }: PlatformParts['languages'],
): string | undefined {
  const all = [...new Set([own, ...(languages ?? [])])];
  if (all.length === 1 || tellsApart(all)) return undefined;
  const listed = all.map((language) => `"${language}"`).join(', ');
  return (
    `No recogniser hears all of ${listed}: calls stay in "${own}" until there is one, for example by ` +
    `"${commandLine('models', `add ${EARS}`)}" and a restart`
  );
}

const MESSAGE = 'conversation.outbound.voicemail.message';

/** Why what an agent is to do about answering machines does not happen, or not as it says. */
function voicemailWarning({ outbound }: AgentConfig['conversation']): string | undefined {
  const { amd_enabled: detects, voicemail } = outbound;
  if (!voicemail) return undefined;
  if (!detects)
    return 'conversation.outbound.voicemail has no effect: conversation.outbound.amd_enabled is off';
  const { action, message } = voicemail;
  if (action === 'hangup') return undefined;
  if (message.trim() === '') return `${MESSAGE} is empty: calls that a machine answers are hung up`;
  const { max } = LIMITS.phone.voicemail;
  return action === 'leave_message' && message.length > max
    ? `${MESSAGE} is longer than the ${max} characters that providers read out: no calls are placed with it`
    : undefined;
}

/** Warnings about settings of this agent that will not work; they do not prevent its publication. */
export function warningsOf(
  { voice, conversation, analysis }: AgentConfig,
  languages: PlatformParts['languages'],
): string[] {
  const { speaking_language: language } = voice;
  const { timezone } = conversation;
  const optionless = analysis.data_fields.filter(
    ({ type, enum_options: options }) => type === 'enum' && !options,
  );
  const warnings = [
    languages.transcribes(language) ? undefined : unheard(language),
    languagesWarning(voice, languages),
    timezone === '' || isTimezone(timezone) ? undefined : `Unknown time zone "${timezone}"`,
    voicemailWarning(conversation),
    ...optionless.map(({ name }) => `The data field "${name}" has no options to choose from`),
  ];
  return warnings.filter((warning) => warning !== undefined);
}
