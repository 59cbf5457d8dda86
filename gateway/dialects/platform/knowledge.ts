/** Knowledge sources (docs/contract/platform.md 6.1). */
import { LIMITS } from '../../../contracts/limits.js';
import { passagesFor } from '../../../contracts/agents/passages.js';
import type { KnowledgeDetail, KnowledgeSource } from '../../../contracts/ports/agents/knowledge.js';
import { AgentReferences } from '../../../contracts/schemas/agents.js';
import {
  KnowledgeChange,
  KnowledgeCreation,
  KnowledgeEntity,
  KnowledgeFound,
  KnowledgeQuery,
  KnowledgeRow,
} from '../../../contracts/schemas/knowledge.js';
import { answers, jsonBody } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { agentIdOf } from './agents.js';
import { readBody } from './bodies.js';
import { checked } from './checked.js';
import { invalid, problem, refuse } from './errors.js';
import { Page, pageBody, pageRequest, PAGING, SEARCH, searchOf } from './paging.js';
import { bodyFailures, failures, found, gone, type PlatformHandler, idOf, type PlatformRow } from './rows.js';
import { referencesBody } from './tools.js';
import { readUpload, sourceFile } from './uploads.js';

const WHAT = 'Knowledge source';

const sourceIdOf = (request: Parameters<PlatformHandler>[0]): string => idOf(request, 'source_id', WHAT);

const rowOf = (source: KnowledgeSource) => ({
  knowledge_source_id: source.id,
  workspace_id: source.workspaceId,
  name: source.name,
  description: source.description,
  file_name: source.fileName,
  size_bytes: source.sizeBytes,
  chunk_count: source.chunkCount,
  language: source.language ?? 'und',
  indexing: source.indexing,
  revision_number: source.revision,
  created_at: source.createdAt.toISOString(),
  updated_at: source.updatedAt.toISOString(),
});

const entityOf = (source: KnowledgeDetail) => ({ ...rowOf(source), content: source.content });

const list: PlatformHandler = async ({ query }, { knowledge }, { workspaceId }) => {
  const page = pageRequest(query, 'knowledge');
  const listed = await knowledge.list(workspaceId, searchOf(query).search, page);
  return json(200, pageBody('knowledge', 'knowledge_sources', listed, rowOf));
};

const create: PlatformHandler = async (request, { knowledge, documents }, { workspaceId }) => {
  const { fields, file, problems } = await readUpload(request);
  if (!file) throw invalid([problem(['source'], 'missing file source', 'required'), ...problems]);
  refuse(problems);
  const source = await sourceFile(file, documents, workspaceId);
  const ownName = [...source.fileName].slice(0, LIMITS.knowledge.name.max).join('');
  const { name = ownName, description = '' } = fields;
  return json(201, entityOf(await knowledge.create({ name, description, file: source }, workspaceId)));
};

const read: PlatformHandler = async (request, { knowledge }, { workspaceId }) =>
  json(200, entityOf(found(await knowledge.read(sourceIdOf(request), workspaceId), WHAT)));

const change: PlatformHandler = async (request, { knowledge, documents }, { workspaceId }) => {
  const { fields, file, problems } = await readUpload(request);
  refuse(problems);
  const source = file && (await sourceFile(file, documents, workspaceId));
  const wanted = { ...fields, ...(source && { file: source }) };
  return json(200, entityOf(found(await knowledge.change(sourceIdOf(request), workspaceId, wanted), WHAT)));
};

const remove: PlatformHandler = async (request, { knowledge }, { workspaceId }) =>
  gone(await knowledge.remove(sourceIdOf(request), workspaceId), WHAT);

const agents: PlatformHandler = async (request, { knowledge }, { workspaceId }) =>
  json(200, referencesBody(found(await knowledge.agents(sourceIdOf(request), workspaceId), WHAT)));

const checkQuery = checked(KnowledgeQuery);

const search: PlatformHandler = async (request, { versions, knowledge }, { workspaceId }) => {
  const { query, version_number: number } = checkQuery(await readBody(request));
  const id = agentIdOf(request);
  const agent =
    number === undefined ? versions.draft(id, workspaceId) : versions.version(id, workspaceId, number);
  const version = found(found(await agent, 'Agent').version, 'Version');
  const passages = await passagesFor(knowledge, workspaceId, version, query);
  return json(200, {
    enabled: version.config.knowledge_base.enabled,
    passages: passages.map(({ sourceId, source, text, rank, by }) => ({
      knowledge_source_id: sourceId,
      name: source,
      text,
      score: rank,
      found_by: by,
    })),
  });
};

const SOURCES = '/v1/agent/knowledge-sources';
const SOURCE = `${SOURCES}/{source_id}`;
const FORM = 'multipart/form-data';

export const KNOWLEDGE_ROWS: readonly PlatformRow[] = tagged('knowledge', [
  {
    method: 'GET',
    path: SOURCES,
    permission: 'read',
    handler: list,
    description: {
      summary: 'List knowledge sources',
      description: 'Newest first.',
      parameters: [SEARCH, ...PAGING],
      responses: { ...answers(200, 'One page', Page('knowledge_sources', KnowledgeRow)), ...failures(400) },
    },
  },
  {
    method: 'POST',
    path: SOURCES,
    permission: 'manage',
    handler: create,
    audit: { action: 'knowledge.created', subject: 'knowledge_source_id' },
    description: {
      summary: 'Create a knowledge source',
      description: 'A text that agents answer from.',
      requestBody: { [FORM]: KnowledgeCreation },
      responses: { ...answers(201, 'The source', KnowledgeEntity), ...bodyFailures() },
    },
  },
  {
    method: 'GET',
    path: SOURCE,
    permission: 'read',
    handler: read,
    description: {
      summary: 'Read a knowledge source',
      description: 'With its content.',
      responses: { ...answers(200, 'The source', KnowledgeEntity), ...failures(404) },
    },
  },
  {
    method: 'PATCH',
    path: SOURCE,
    permission: 'manage',
    handler: change,
    audit: { action: 'knowledge.changed', subject: 'source_id' },
    description: {
      summary: 'Change a knowledge source',
      description:
        'A new file is a new revision. Published versions keep the revision that they were published with.',
      requestBody: { [FORM]: KnowledgeChange },
      responses: { ...answers(200, 'The source', KnowledgeEntity), ...bodyFailures(404) },
    },
  },
  {
    method: 'DELETE',
    path: SOURCE,
    permission: 'manage',
    handler: remove,
    audit: { action: 'knowledge.deleted', subject: 'source_id' },
    description: {
      summary: 'Delete a knowledge source',
      description: 'Not while the draft or the last version of an agent refers to it.',
      responses: { ...answers(204, 'Gone'), ...failures(404, 409) },
    },
  },
  {
    method: 'GET',
    path: `${SOURCE}/agents`,
    permission: 'read',
    handler: agents,
    description: {
      summary: 'List the agents that use a knowledge source',
      description: 'By their drafts.',
      responses: { ...answers(200, 'The agents', AgentReferences), ...failures(404) },
    },
  },
  {
    method: 'POST',
    path: '/v1/agent/agents/{agent_id}/knowledge/search',
    // Changes nothing.
    permission: 'read',
    handler: search,
    description: {
      summary: "Search an agent's knowledge",
      description:
        'What the agent would be told at this question, in its draft or one of its versions: passages, or its sources as they are.',
      requestBody: jsonBody(KnowledgeQuery),
      responses: { ...answers(200, 'What was found', KnowledgeFound), ...bodyFailures(404) },
    },
  },
]);
