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
import type { PlatformParts } from './parts.js';

/** Turns a single `post_call` object into a list of one (docs/contract/platform.md 6.3). */
export function listingPostCall(config: unknown): unknown {
  if (!isPlainObject(config) || !isPlainObject(config['webhooks'])) return config;
  const { post_call: hook, ...rest } = config['webhooks'];
  return isPlainObject(hook) ? { ...config, webhooks: { ...rest, post_call: [hook] } } : config;
}

type Outbound = PlatformParts['outbound'];
type CheckParts = Pick<PlatformParts, 'agents' | 'outbound' | 'tokens' | 'shortNumbers'>;

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

/** Names of before this rule that a client sends back as it has read them are no problem; they are not filled. */
const systemProblems = ({ prompt }: ConfigChanges, stored: AgentConfig | undefined): Problem[] =>
  TEXTS.flatMap((name) => {
    const why = unknownSystemName(prompt?.[name] ?? '', stored?.prompt[name]);
    return why === undefined ? [] : [problem(['prompt', name], `prompt.${name} ${why}`, 'system_variable')];
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

/** All problems of a change that fits its schema. `stored`: what it changes; undefined for a new agent. */
export async function configProblems(
  changes: ConfigChanges,
  workspaceId: string,
  { agents, outbound, tokens, shortNumbers }: CheckParts,
  stored?: AgentConfig,
): Promise<Problem[]> {
  const tools = changes.tools?.tool_ids ?? [];
  const sources = changes.knowledge_base?.knowledge_source_ids ?? [];
  return [
    ...(await promptProblems(changes, workspaceId, tokens)),
    ...systemProblems(changes, stored),
    ...timezoneProblems(changes),
    ...destinationProblems(changes, stored, shortNumbers),
    ...webhookProblems(changes, outbound),
    ...initProblems(changes, outbound),
    ...analysisProblems(changes),
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
    timezone === '' || isTimezone(timezone) ? undefined : `Unknown time zone "${timezone}"`,
    ...optionless.map(({ name }) => `The data field "${name}" has no options to choose from`),
  ];
  return warnings.filter((warning) => warning !== undefined);
}
