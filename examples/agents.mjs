/** Agents, tools and knowledge sources by their names: made by the first run of an example, changed by later ones. */
import { basename } from 'node:path';
import { readFile } from 'node:fs/promises';
import { api } from './gateway.mjs';

const AGENTS = '/v1/agent';

/** The id of the one with this name; undefined if there is none. */
async function idOf(plural, idField, name) {
  const list = await api('GET', `${AGENTS}/${plural}?search=${encodeURIComponent(name)}&page_size=100`);
  return list[plural.replace('-', '_')].find((one) => one.name === name)?.[idField];
}

/** Resolves with the tool's id. */
export async function putTool(tool) {
  const id = await idOf('tools', 'tool_id', tool.name);
  if (id) await api('PATCH', `${AGENTS}/tools/${id}`, tool);
  return id ?? (await api('POST', `${AGENTS}/tools`, tool)).tool_id;
}

/** A text that agents answer from, Markdown or plain. Resolves with the source's id. */
export async function putSource(name, file) {
  const form = new FormData();
  form.set('name', name);
  form.set('source', new Blob([await readFile(file)], { type: 'text/markdown' }), basename(String(file)));
  const id = await idOf('knowledge-sources', 'knowledge_source_id', name);
  if (id) await api('PATCH', `${AGENTS}/knowledge-sources/${id}`, form);
  return id ?? (await api('POST', `${AGENTS}/knowledge-sources`, form)).knowledge_source_id;
}

/** Publishes an agent with this configuration. Resolves with its id. */
export async function putAgent(name, config) {
  const found = await idOf('agents', 'agent_id', name);
  const id = found ?? (await api('POST', `${AGENTS}/agents`, { name })).agent_id;
  await api('PATCH', `${AGENTS}/agents/${id}/config`, config);
  await api('POST', `${AGENTS}/agents/${id}/publish`, {});
  return id;
}

/** What a client needs to join: pass it on as it is. */
export const makeSession = (agentId, more = {}) =>
  api('POST', `${AGENTS}/sessions`, { agent_id: agentId, ...more });
