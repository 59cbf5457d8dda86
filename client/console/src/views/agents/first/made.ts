/** The draft that the guide works on, with the tool and the knowledge that came with it; kept in the tab until it is published. */
import { ask, Refusal, upload } from '../../../api.js';
import { kept } from '../../../kept.js';
import { type Agent, agentPath } from '../agent-api.js';
import type { Template } from './templates.js';

export interface Made {
  readonly template: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly source?: string;
}

const PLACE = 'first.made';

export const made = {
  read: (): Made | undefined => kept.read<Made>(PLACE),
  keep: (draft: Made): void => kept.keep(PLACE, draft),
  forget: (): void => kept.forget(PLACE),
};

const AGENTS = 'v1/agent/agents';
const TOOLS = 'v1/agent/tools';
const SOURCES = 'v1/agent/knowledge-sources';

async function makeSource({ name, text }: NonNullable<Template['knowledge']>): Promise<string> {
  const form = new FormData();
  form.set('name', name);
  form.set('source', new File([text], 'knowledge.md', { type: 'text/markdown' }));
  return (await upload<{ readonly knowledge_source_id: string }>(SOURCES, form, {})).knowledge_source_id;
}

const configOf = ({ greeting, task, config }: Template, { tool, source }: Made) => ({
  prompt: { system_prompt: task, first_message_mode: 'fixed', first_message: greeting },
  tools: { tool_ids: tool ? [tool] : [], system_tools: { hang_up_call: true } },
  ...(source && { knowledge_base: { enabled: true, knowledge_source_ids: [source] } }),
  ...config,
});

/** Deletes what is there of a draft; what has gone already is no failure. Errors: those of `ask`. */
export async function discard({ agent, tool, source }: Made): Promise<void> {
  // The agent first: a source that an agent has cannot be deleted.
  const paths = [agent && agentPath(agent), tool && `${TOOLS}/${tool}`, source && `${SOURCES}/${source}`];
  for (const path of paths)
    if (path)
      await ask(path, { method: 'DELETE' }).catch((error: unknown) => {
        if (!(error instanceof Refusal) || error.status !== 404) throw error;
      });
  made.forget();
}

/** Makes everything that the template needs, as a draft that nobody can call. Errors: those of `ask`; nothing is left then. */
export async function make(template: Template): Promise<Made> {
  let draft: Made = { template: template.id };
  const add = (part: Partial<Made>): void => made.keep((draft = { ...draft, ...part }));
  try {
    if (template.tool)
      add({ tool: (await ask<{ readonly tool_id: string }>(TOOLS, { body: template.tool })).tool_id });
    if (template.knowledge) add({ source: await makeSource(template.knowledge) });
    add({ agent: (await ask<Agent>(AGENTS, { body: { name: template.name } })).agent_id });
    await ask(agentPath(draft.agent ?? '', '/config'), { method: 'PATCH', body: configOf(template, draft) });
    return draft;
  } catch (error) {
    await discard(draft).catch(() => undefined);
    throw error;
  }
}
