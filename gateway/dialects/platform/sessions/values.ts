/**
 * Checks of a session request beyond its schema (docs/contract/platform.md 6.6; docs/contract/decisions.md 12 and
 * 19): which overrides are allowed, and whether the values make sense.
 */
import type { Variables } from '../../../../contracts/agents/plan.js';
import { unknownSystemName } from '../../../../contracts/agents/system-variables.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Override } from '../../../../contracts/schemas/agents.js';
import type { TokenAsker, TokenCounter } from '../../../../contracts/ports/tokens.js';
import type { Problem } from '../../../../contracts/schemas/check.js';
import { isLonger } from '../../../../contracts/text/text.js';
import { isTimezone } from '../../../../contracts/time/timezones.js';
import { problem } from '../errors.js';
import type { SessionFields } from './request.js';
import type { Overrides } from './schema.js';

const { session, agent } = LIMITS;

/** The override that the agent must allow for each field. */
const PERMISSIONS: Readonly<Record<keyof Overrides, Override>> = {
  first_message: 'first_message',
  first_message_prompt: 'first_message',
  system_prompt: 'system_prompt',
  voice_id: 'voice_id',
  language: 'language',
};

/** The only overrides for requests without a key. */
const PUBLIC_OVERRIDES: readonly string[] = ['language', 'voice_id'];

const refused = (param: string, message: string): ServiceError =>
  new ServiceError('unsupported_option', { message, param });

/** The overrides in the request; null counts as absent. */
export const sentOverrides = ({ overrides }: SessionFields): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(overrides ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

/** Errors: `unsupported_option` for the first override that the agent, or a request without a key, does not allow. */
export function permit(wanted: SessionFields, allowed: readonly Override[], isPublic: boolean): void {
  if (isPublic && typeof wanted.name === 'string')
    throw refused('name', 'name is not allowed in public sessions');
  const fields = Object.keys(sentOverrides(wanted)) as (keyof Overrides)[];
  const foreign = isPublic ? fields.find((field) => !PUBLIC_OVERRIDES.includes(field)) : undefined;
  if (foreign !== undefined)
    throw refused(`overrides.${foreign}`, `overrides.${foreign} is not allowed in public sessions`);
  const closed = fields.find((field) => !allowed.includes(PERMISSIONS[field]));
  if (closed !== undefined)
    throw refused(`overrides.${closed}`, `overrides.${closed} is not enabled for this agent`);
}

const VARIABLE_NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
const SHOWN = 64;

function variableProblem(name: string, value: unknown): string | undefined {
  if (!VARIABLE_NAME.test(name)) return 'must begin with a letter and have letters, digits and _ only';
  if (typeof value === 'boolean' || Number.isFinite(value)) return undefined;
  // JSON.parse reads numbers beyond 1.8e308 as infinite.
  if (typeof value === 'number') return 'must be a number of at most 1.8e308';
  if (typeof value !== 'string') return 'must be a string, a number or a boolean';
  const { dynamicVariableLength: most } = session;
  return isLonger(value, most) ? `must have at most ${most} characters` : undefined;
}

export function variableProblems(variables: SessionFields['dynamic_variables']): Problem[] {
  const entries = Object.entries(variables ?? {});
  const where = 'dynamic_variables';
  if (entries.length > session.dynamicVariables)
    return [
      problem([where], `${where} must have at most ${session.dynamicVariables} entries`, 'maxProperties'),
    ];
  return entries.flatMap(([name, value]) => {
    const wrong = variableProblem(name, value);
    return wrong === undefined ? [] : [problem([where, name], `${where}.${name.slice(0, SHOWN)} ${wrong}`)];
  });
}

const timezoneProblems = ({ timezone }: SessionFields): Problem[] =>
  typeof timezone === 'string' && !isTimezone(timezone)
    ? [problem(['timezone'], 'timezone must be an IANA timezone name')]
    : [];

function metadataProblems({ metadata }: SessionFields): Problem[] {
  const most = session.metadataBytes;
  return Buffer.byteLength(metadata.text) > most
    ? [problem(['metadata'], `metadata must have at most ${most} bytes of JSON`)]
    : [];
}

function openingProblems(wanted: SessionFields): Problem[] {
  const { first_message: spoken, first_message_prompt: prompted } = sentOverrides(wanted);
  if (spoken === undefined || prompted === undefined) return [];
  const message = 'first_message and first_message_prompt are mutually exclusive';
  return [problem(['overrides', 'first_message_prompt'], message)];
}

const systemProblems = (wanted: SessionFields): Problem[] =>
  Object.entries(sentOverrides(wanted)).flatMap(([name, text]) => {
    const why = unknownSystemName(text);
    return why === undefined
      ? []
      : [problem(['overrides', name], `overrides.${name} ${why}`, 'system_variable')];
  });

async function promptProblems(
  wanted: SessionFields,
  asker: TokenAsker,
  tokens: TokenCounter,
): Promise<Problem[]> {
  const { system_prompt: prompt } = sentOverrides(wanted);
  const most = agent.systemPromptTokens;
  if (prompt === undefined || !(await tokens.exceedsTokens(prompt, most, asker))) return [];
  return [
    problem(['overrides', 'system_prompt'], `overrides.system_prompt must have at most ${most} tokens`),
  ];
}

/** All problems of the values; counting tokens may have to wait. Errors: `overloaded`. */
export async function valueProblems(
  wanted: SessionFields,
  asker: TokenAsker,
  tokens: TokenCounter,
): Promise<readonly Problem[]> {
  return [
    ...openingProblems(wanted),
    ...systemProblems(wanted),
    ...variableProblems(wanted.dynamic_variables),
    ...timezoneProblems(wanted),
    ...metadataProblems(wanted),
    ...(await promptProblems(wanted, asker, tokens)),
  ];
}

/** The variables, once `valueProblems` has found none. */
export const variablesOf = ({ dynamic_variables: variables }: SessionFields): Variables =>
  (variables ?? {}) as Variables;
