/** Agents and their configuration (docs/contract/platform.md 6.1 and 6.3). */
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import type { Agent, HashedConfig } from '../../../contracts/ports/agents/agents.js';
import { type AgentConfig, ConfigEntity, ConfigPatch } from '../../../contracts/schemas/agent-config.js';
import { type ConfigRevision, reviseConfig } from '../../../contracts/schemas/agent-merge.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import {
  AgentChange,
  AgentCreation,
  AgentEntity,
  PUBLICATION_STATES,
} from '../../../contracts/schemas/agents.js';
import { answers, jsonBody, queryParameter } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { readBody } from './bodies.js';
import { checked } from './checked.js';
import { configProblems, listingPostCall } from './config-check.js';
import { keepsKey } from './model-address.js';
import { foreignProblems, problem, refuse, rethrowUnder } from './errors.js';
import { flagOf, oneOf, Page, pageBody, pageRequest, PAGING, SEARCH, searchOf } from './paging.js';
import { bodyFailures, failures, found, gone, type PlatformHandler, idOf, type PlatformRow } from './rows.js';
import { isOrigin } from './sessions/origin.js';

const WHAT = 'Agent';
const PUBLICATIONS = ['all', ...PUBLICATION_STATES] as const;

const checkCreation = checked(AgentCreation);
const checkChange = checked(AgentChange);
const checkConfig = checked(ConfigPatch);

export const agentIdOf = (request: Parameters<PlatformHandler>[0]): string => idOf(request, 'agent_id', WHAT);

export const agentEntity = (agent: Agent) => ({
  agent_id: agent.id,
  workspace_id: agent.workspaceId,
  name: agent.name,
  description: agent.description,
  status: agent.status,
  publication_state: agent.lastVersion > 0 ? 'live' : 'draft',
  public_enabled: agent.publicEnabled,
  allowed_origins: agent.allowedOrigins,
  overrides_allowed: agent.overridesAllowed,
  created_at: agent.createdAt.toISOString(),
  updated_at: agent.updatedAt.toISOString(),
});

export const configEntity = ({ agentId, config, configHash, updatedAt }: HashedConfig) => ({
  agent_id: agentId,
  config_hash: configHash,
  ...config,
  updated_at: updatedAt.toISOString(),
});

const list: PlatformHandler = async ({ query }, { agents }, { workspaceId }) => {
  const page = pageRequest(query, 'agents');
  const filter = {
    ...searchOf(query),
    includeArchived: flagOf(query, 'include_archived', false),
    publication: oneOf(query, 'publication_state', PUBLICATIONS) ?? 'all',
  };
  const listed = await agents.list(workspaceId, filter, page);
  return json(200, pageBody('agents', 'agents', listed, agentEntity));
};

const listingConfig = (body: unknown): unknown =>
  isPlainObject(body) && 'config' in body ? { ...body, config: listingPostCall(body['config']) } : body;

const create: PlatformHandler = async (request, parts, { workspaceId }) => {
  const { name, description = '', config } = checkCreation(listingConfig(await readBody(request)));
  const changes = config ?? {};
  try {
    refuse(await configProblems(changes, workspaceId, parts));
    const revision = reviseConfig(parts.initialConfig, changes, parts.initialConfig);
    return json(201, agentEntity(await parts.agents.create({ name, description, ...revision }, workspaceId)));
  } catch (error) {
    return rethrowUnder('config', error);
  }
};

const read: PlatformHandler = async (request, { agents }, { workspaceId }) =>
  json(200, agentEntity(found(await agents.read(agentIdOf(request), workspaceId), WHAT)));

const originProblems = ({ allowed_origins: origins = [] }: AgentChange): Problem[] =>
  origins.flatMap((origin, index) => {
    const loc = ['allowed_origins', index];
    const message = `${loc.join('.')} must be an origin: scheme://host or scheme://host:port`;
    return isOrigin(origin) ? [] : [problem(loc, message, 'origin')];
  });

const change: PlatformHandler = async (request, { agents }, { workspaceId }) => {
  const id = agentIdOf(request);
  const wanted = checkChange(await readBody(request));
  const sent = wanted.publication_state;
  const state =
    sent !== undefined && agentEntity(found(await agents.read(id, workspaceId), WHAT)).publication_state;
  const own = { agent_id: id, workspace_id: workspaceId, ...(state && { publication_state: state }) };
  refuse([...foreignProblems(wanted, own), ...originProblems(wanted)]);
  return json(200, agentEntity(found(await agents.change(id, workspaceId, wanted), WHAT)));
};

const remove: PlatformHandler = async (request, { agents }, { workspaceId }) =>
  gone(await agents.remove(agentIdOf(request), workspaceId), WHAT);

const readConfig: PlatformHandler = async (request, { agents }, { workspaceId }) =>
  json(200, configEntity(found(await agents.config(agentIdOf(request), workspaceId), WHAT)));

const changeConfig: PlatformHandler = async (request, parts, { workspaceId }) => {
  const id = agentIdOf(request);
  const patch = checkConfig(listingPostCall(await readBody(request)));
  refuse(foreignProblems(patch, { agent_id: id }));
  const { agent_id: _id, config_hash: _hash, updated_at: _updated, ...changes } = patch;
  // Checked first: counting tokens is work that no request for an unknown agent may cause.
  const stored = found(await parts.agents.config(id, workspaceId), WHAT);
  const isKept = await keepsKey(changes, stored, parts.models);
  refuse(await configProblems(changes, workspaceId, parts, stored.config, isKept));
  const revise = (current: AgentConfig): ConfigRevision =>
    reviseConfig(current, changes, parts.initialConfig);
  const revised = await parts.agents.configure(id, workspaceId, revise);
  return json(200, configEntity(found(revised, WHAT)));
};

const AGENTS = '/v1/agent/agents';
const AGENT = `${AGENTS}/{agent_id}`;

export const AGENT_ROWS: readonly PlatformRow[] = tagged('agents', [
  {
    method: 'GET',
    path: AGENTS,
    permission: 'read',
    handler: list,
    description: {
      summary: 'List agents',
      description: 'Newest first.',
      parameters: [
        SEARCH,
        queryParameter('include_archived', { type: 'boolean', default: false }),
        queryParameter('publication_state', { enum: PUBLICATIONS, default: 'all' }),
        ...PAGING,
      ],
      responses: {
        ...answers(200, 'One page', Page('agents', AgentEntity)),
        ...failures(400),
      },
    },
  },
  {
    method: 'POST',
    path: AGENTS,
    permission: 'manage',
    handler: create,
    audit: { action: 'agent.created', subject: 'agent_id' },
    description: {
      summary: 'Create an agent',
      description:
        'A draft, configured on top of the platform’s defaults. It takes sessions once it is published.',
      requestBody: jsonBody(AgentCreation),
      responses: { ...answers(201, 'The agent', AgentEntity), ...bodyFailures() },
    },
  },
  {
    method: 'GET',
    path: AGENT,
    permission: 'read',
    handler: read,
    description: {
      summary: 'Read an agent',
      responses: { ...answers(200, 'The agent', AgentEntity), ...failures(404) },
    },
  },
  {
    method: 'PATCH',
    path: AGENT,
    permission: 'manage',
    handler: change,
    audit: { action: 'agent.changed', subject: 'agent_id' },
    description: {
      summary: 'Change an agent',
      description:
        'Absent fields stay as they are. `status` archives an agent or restores it: an archived one takes no sessions, and ' +
        'those that wait to be joined end.',
      requestBody: jsonBody(AgentChange),
      responses: { ...answers(200, 'The agent', AgentEntity), ...bodyFailures(404) },
    },
  },
  {
    method: 'DELETE',
    path: AGENT,
    permission: 'manage',
    handler: remove,
    audit: { action: 'agent.deleted', subject: 'agent_id' },
    description: {
      summary: 'Delete an agent',
      description:
        'With its configuration and versions. Records of its sessions stay; running conversations continue, sessions that ' +
        'wait to be joined end.',
      responses: { ...answers(204, 'Gone'), ...failures(404) },
    },
  },
  {
    method: 'GET',
    path: `${AGENT}/config`,
    permission: 'read',
    handler: readConfig,
    description: {
      summary: 'Read the draft configuration',
      responses: { ...answers(200, 'The configuration', ConfigEntity), ...failures(404) },
    },
  },
  {
    method: 'PATCH',
    path: `${AGENT}/config`,
    permission: 'manage',
    handler: changeConfig,
    audit: { action: 'agent.configured', subject: 'agent_id' },
    description: {
      summary: 'Change the draft configuration',
      description:
        'Merged deeply: absent keeps the stored value, null takes a field back to its default (not a section), lists are ' +
        'replaced. A configuration can be sent back as it was read. Nothing goes live before the next publication.',
      requestBody: jsonBody(ConfigPatch),
      responses: { ...answers(200, 'The configuration', ConfigEntity), ...bodyFailures(404) },
    },
  },
]);
