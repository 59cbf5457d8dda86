/** Tools (docs/contract/platform.md 6.5; docs/contract/platform.md 6.5). */
import { LIMITS } from '../../../contracts/limits.js';
import type {
  AgentReferences as References,
  Tool,
  ToolSummary as Summary,
} from '../../../contracts/ports/agents/tools.js';
import { AgentReferences } from '../../../contracts/schemas/agents.js';
import {
  newTool,
  reviseTool,
  ToolChange,
  ToolCreation,
  ToolEntity,
  ToolSummary,
} from '../../../contracts/schemas/tools.js';
import { answers, jsonBody, queryParameter } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { readBody } from './bodies.js';
import { checked } from './checked.js';
import { foreignProblems, refuse } from './errors.js';
import { Page, pageBody, pageRequest, PAGING, SEARCH, searchOf, textOf } from './paging.js';
import { bodyFailures, failures, found, gone, type PlatformHandler, idOf, type PlatformRow } from './rows.js';
import { modeProblems, nameProblems, systemProblems, toolProblems } from './tool-check.js';

const WHAT = 'Tool';

const checkCreation = checked(ToolCreation);
const checkChange = checked(ToolChange);

export const toolIdOf = (request: Parameters<PlatformHandler>[0]): string => idOf(request, 'tool_id', WHAT);

const toolSummary = ({ id, workspaceId, definition, usedBy, createdAt, updatedAt }: Summary) => ({
  tool_id: id,
  workspace_id: workspaceId,
  name: definition.name,
  description: definition.description,
  tool_type: definition.tool_type,
  method: definition.method,
  url: definition.url,
  used_by: usedBy,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

const toolEntity = (tool: Tool) => ({ ...toolSummary(tool), ...tool.definition });

export const referencesBody = ({ agents, total }: References) => ({
  agents: agents.map(({ id, name }) => ({ agent_id: id, name })),
  total,
});

const list: PlatformHandler = async ({ query }, { agents, tools }, { workspaceId }) => {
  const page = pageRequest(query, 'tools');
  const agentId = textOf(query, 'agent_id', LIMITS.agent.reference);
  if (agentId !== undefined) found(await agents.read(agentId, workspaceId), 'Agent');
  const filter = {
    ...searchOf(query),
    ...(agentId === undefined ? {} : { agentId }),
  };
  const listed = await tools.list(workspaceId, filter, page);
  return json(200, pageBody('tools', 'tools', listed, toolSummary));
};

const create: PlatformHandler = async (request, { tools, outbound }, { workspaceId }) => {
  const wanted = checkCreation(await readBody(request));
  refuse([
    ...nameProblems(wanted, wanted.tool_type),
    ...toolProblems(wanted, outbound),
    ...systemProblems(wanted),
  ]);
  const made = newTool(wanted);
  refuse(modeProblems(made.definition));
  return json(201, toolEntity(await tools.create(made, workspaceId)));
};

const read: PlatformHandler = async (request, { tools }, { workspaceId }) =>
  json(200, toolEntity(found(await tools.read(toolIdOf(request), workspaceId), WHAT)));

const change: PlatformHandler = async (request, { tools, outbound }, { workspaceId }) => {
  const id = toolIdOf(request);
  const wanted = checkChange(await readBody(request));
  refuse(toolProblems(wanted, outbound));
  const changed = await tools.change(id, workspaceId, (current) => {
    const own = { tool_id: id, workspace_id: workspaceId, tool_type: current.tool_type };
    refuse([
      ...foreignProblems(wanted, own),
      ...nameProblems(wanted, current.tool_type),
      ...systemProblems(wanted, current),
    ]);
    const revised = reviseTool(current, wanted);
    refuse(modeProblems(revised.definition));
    return revised;
  });
  return json(200, toolEntity(found(changed, WHAT)));
};

const remove: PlatformHandler = async (request, { tools }, { workspaceId }) =>
  gone(await tools.remove(toolIdOf(request), workspaceId), WHAT);

const agents: PlatformHandler = async (request, { tools }, { workspaceId }) =>
  json(200, referencesBody(found(await tools.agents(toolIdOf(request), workspaceId), WHAT)));

const TOOLS = '/v1/agent/tools';
const TOOL = `${TOOLS}/{tool_id}`;

export const TOOL_ROWS: readonly PlatformRow[] = tagged('tools', [
  {
    method: 'GET',
    path: TOOLS,
    permission: 'read',
    handler: list,
    description: {
      summary: 'List tools',
      description: 'Newest first.',
      parameters: [
        SEARCH,
        queryParameter('agent_id', { type: 'string' }, "Those that the agent's draft has attached"),
        ...PAGING,
      ],
      responses: { ...answers(200, 'One page', Page('tools', ToolSummary)), ...failures(400, 404) },
    },
  },
  {
    method: 'POST',
    path: TOOLS,
    permission: 'manage',
    handler: create,
    audit: { action: 'tool.created', subject: 'tool_id' },
    description: {
      summary: 'Create a tool',
      description: 'It is attached to no agent. Credentials are write-only and kept encrypted.',
      requestBody: jsonBody(ToolCreation),
      responses: { ...answers(201, 'The tool', ToolEntity), ...bodyFailures() },
    },
  },
  {
    method: 'GET',
    path: TOOL,
    permission: 'read',
    handler: read,
    description: {
      summary: 'Read a tool',
      responses: { ...answers(200, 'The tool', ToolEntity), ...failures(404) },
    },
  },
  {
    method: 'PATCH',
    path: TOOL,
    permission: 'manage',
    handler: change,
    audit: { action: 'tool.changed', subject: 'tool_id' },
    description: {
      summary: 'Change a tool',
      description:
        'Absent fields stay as they are, lists are replaced; a tool can be sent back as it was read. Every agent that uses ' +
        'it then has unpublished changes; a new credential takes effect at once, also for published versions.',
      requestBody: jsonBody(ToolChange),
      responses: { ...answers(200, 'The tool', ToolEntity), ...bodyFailures(404) },
    },
  },
  {
    method: 'DELETE',
    path: TOOL,
    permission: 'manage',
    handler: remove,
    audit: { action: 'tool.deleted', subject: 'tool_id' },
    description: {
      summary: 'Delete a tool',
      description: 'Not while the draft of an agent has it attached. Published versions keep it as it was.',
      responses: { ...answers(204, 'Gone'), ...failures(404, 409) },
    },
  },
  {
    method: 'GET',
    path: `${TOOL}/agents`,
    permission: 'read',
    handler: agents,
    description: {
      summary: 'List the agents that use a tool',
      description: 'By their drafts.',
      responses: { ...answers(200, 'The agents', AgentReferences), ...failures(404) },
    },
  },
]);
