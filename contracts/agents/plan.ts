/** The agent's part of a session's plan: made with the session, and again for each agent that takes its call over. */
import { functionNames } from '../tools/function-names.js';
import { namesIn, render, type Variable } from './placeholders.js';
import type { RunnableVersion } from '../ports/agents/agents.js';
import type { PlannedTool, SessionPlan } from '../ports/sessions/sessions.js';
import type { AgentConfig } from '../schemas/agent-config.js';

/** The session's dynamic variables, by their names. */
export type Variables = Readonly<Record<string, Variable>>;

type Prompt = AgentConfig['prompt'];

const TEXTS = ['system_prompt', 'first_message', 'first_message_prompt'] as const;

/** The texts of a prompt that have placeholders, and their names. */
export const placeholdersOf = (
  prompt: Prompt,
): readonly (readonly [text: string, names: readonly string[]])[] =>
  TEXTS.map((text) => [text, namesIn(prompt[text])] as const).filter(([, names]) => names.length > 0);

/** The prompt with its placeholders rendered, or the texts that are too long with their variables. */
export function renderPrompt(
  prompt: Prompt,
  variables: Variables,
): { readonly prompt: Prompt } | { readonly tooLong: readonly string[] } {
  const values = new Map(Object.entries(variables));
  const rendered = TEXTS.map((name) => [name, render(prompt[name], values)] as const);
  const tooLong = rendered.flatMap(([name, text]) => (text === undefined ? [name] : []));
  if (tooLong.length > 0) return { tooLong };
  return { prompt: { ...prompt, ...Object.fromEntries(rendered) } };
}

const planned = new WeakMap<RunnableVersion['tools'], readonly PlannedTool[]>();

/** The tools with their function names: one list for all plans with the same list of tools. */
export function plannedTools({ tools }: Pick<RunnableVersion, 'tools'>): readonly PlannedTool[] {
  const list = planned.get(tools) ?? named(tools);
  planned.set(tools, list);
  return list;
}

function named(tools: RunnableVersion['tools']): readonly PlannedTool[] {
  const callable = tools.map(({ id, definition }) => ({
    id,
    name: definition.name,
    client: definition.tool_type === 'client',
  }));
  const names = functionNames(callable);
  return tools.map(({ id, definition }) => ({ toolId: id, functionName: names.get(id) ?? id, definition }));
}

/**
 * The plan with which another agent continues: its configuration, tools and knowledge; the session's own settings stay.
 * Undefined if its prompt is too long with the session's variables.
 */
export function takenOver(
  plan: SessionPlan,
  agentId: string,
  version: RunnableVersion,
): SessionPlan | undefined {
  const rendered = renderPrompt(version.config.prompt, { ...plan.transfers?.variables, ...plan.system });
  if ('tooLong' in rendered) return undefined;
  return {
    ...plan,
    agentId,
    config: { ...version.config, prompt: rendered.prompt },
    tools: plannedTools(version),
    knowledge: version.knowledge,
  };
}
