/**
 * Warnings, at publication, about placeholders that somebody may hear: there are no default values, so a session that does
 * not set a variable has its braces in the prompt, and speaks those of a first message (docs/contract/platform.md 6.6).
 */
import { SYSTEM_NAMES } from '../../../contracts/agents/system-variables.js';
import { namesIn } from '../../../contracts/agents/placeholders.js';
import { placeholdersOf } from '../../../contracts/agents/plan.js';
import type { AgentConfig } from '../../../contracts/schemas/agent-config.js';
import type { ToolDefinition } from '../../../contracts/schemas/tools.js';
import { placeholdersIn } from '../../../contracts/tools/templates.js';
import type { PlatformParts } from './parts.js';

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** The names that a message for answering machines uses. Placed calls have the numbers as variables. */
function voicemailNames({ outbound }: AgentConfig['conversation']): readonly string[] {
  const names = namesIn(outbound.voicemail?.message ?? '');
  return names.filter((name) => name !== 'caller_number' && name !== 'dialed_number');
}

/** Warnings about variables in the texts of the prompt, and in the message for answering machines. */
export const variableWarnings = ({ prompt, conversation }: AgentConfig): string[] =>
  [
    ...placeholdersOf(prompt).map(([text, names]) => [`prompt.${text}`, names] as const),
    ...[['conversation.outbound.voicemail.message', voicemailNames(conversation)] as const].filter(
      ([, names]) => names.length > 0,
    ),
  ].map(
    ([text, names]) =>
      `${text} uses variables that have no default: sessions that do not set ${quoted(names)} show the braces`,
  );

/** The placeholders of a tool that none of its arguments fills: they are sent as they are. */
function unfilled({ url, body_template: body, arguments: args }: ToolDefinition): readonly string[] {
  const declared = [...args.map(({ name }) => name), ...SYSTEM_NAMES.map((name) => `system.${name}`)];
  return placeholdersIn(`${url} ${body}`).filter((name) => !declared.includes(name));
}

/** Warnings about placeholders in the tools of a version. */
export async function toolWarnings(
  agentId: string,
  workspaceId: string,
  number: number,
  { versions }: Pick<PlatformParts, 'versions'>,
): Promise<string[]> {
  const { version } = (await versions.version(agentId, workspaceId, number)) ?? {};
  return (version?.tools ?? []).flatMap(({ definition }) => {
    const names = unfilled(definition);
    return names.length === 0
      ? []
      : [`The tool "${definition.name}" has placeholders that no argument of it fills: ${quoted(names)}`];
  });
}
