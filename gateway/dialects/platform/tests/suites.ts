/** Suites: named lists of an agent's scenarios (docs/contract/platform.md 6.12). */
import type { Suite } from '../../../../contracts/ports/agents/agent-tests.js';
import { SuiteChange, SuiteCreation, SuiteEntity } from '../../../../contracts/schemas/agent-test-suites.js';
import { answers, jsonBody } from '../../../server/openapi/openapi-parts.js';
import { json } from '../../../server/replies.js';
import { tagged } from '../../../server/routes.js';
import { readBody } from '../bodies.js';
import { checked } from '../checked.js';
import { foreignProblems, problem, refuse } from '../errors.js';
import { Page, pageBody, pageRequest, PAGING } from '../paging.js';
import { bodyFailures, failures, found, gone, idOf } from '../rows.js';
import {
  AGENT_FILTER,
  agentFilter,
  type AgentTestHandler,
  type AgentTestRow,
  type TestParts,
  TESTS,
} from './parts.js';

const WHAT = 'Suite';
const LIST = 'suites';

const checkCreation = checked(SuiteCreation);
const checkChange = checked(SuiteChange);

const suiteIdOf = (request: Parameters<AgentTestHandler>[0]): string => idOf(request, 'suite_id', WHAT);

const entityOf = ({ id, agentId, name, scenarioIds, createdAt, updatedAt }: Suite): object => ({
  suite_id: id,
  agent_id: agentId,
  name,
  scenario_ids: scenarioIds,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

/** The agent's scenarios with these ids. Errors: `validation_failed` for ids that it does not have, or repeated ones. */
export async function knownScenarios(
  ids: readonly string[],
  agentId: string,
  workspaceId: string,
  { scenarios }: Pick<TestParts, 'scenarios'>,
) {
  const known = await scenarios.of(agentId, workspaceId, ids);
  const has = new Set(known.map(({ id }) => id));
  refuse(
    ids.flatMap((id, index) => {
      const loc = ['scenario_ids', index];
      if (!has.has(id)) return [problem(loc, `${loc.join('.')} is no scenario of this agent`, 'reference')];
      return ids.indexOf(id) === index ? [] : [problem(loc, `${loc.join('.')} must be unique`, 'unique')];
    }),
  );
  return known;
}

const list: AgentTestHandler = async ({ query }, { suites }, { workspaceId }) => {
  const listed = await suites.list(workspaceId, agentFilter(query), pageRequest(query, LIST));
  return json(200, pageBody(LIST, LIST, listed, entityOf));
};

const create: AgentTestHandler = async (request, parts, { workspaceId }) => {
  const { agent_id: agentId, name, scenario_ids: scenarioIds } = checkCreation(await readBody(request));
  found(await parts.agents.find(agentId, workspaceId), 'Agent');
  await knownScenarios(scenarioIds, agentId, workspaceId, parts);
  const suite = await parts.suites.create({ agentId, name, scenarioIds }, workspaceId);
  return json(201, entityOf(found(suite, 'Agent')));
};

const read: AgentTestHandler = async (request, { suites }, { workspaceId }) =>
  json(200, entityOf(found(await suites.read(suiteIdOf(request), workspaceId), WHAT)));

const change: AgentTestHandler = async (request, parts, { workspaceId }) => {
  const id = suiteIdOf(request);
  const sent = checkChange(await readBody(request));
  const { name, scenario_ids: scenarioIds } = sent;
  const { agentId } = found(await parts.suites.read(id, workspaceId), WHAT);
  refuse(foreignProblems(sent, { suite_id: id, agent_id: agentId }));
  if (scenarioIds) await knownScenarios(scenarioIds, agentId, workspaceId, parts);
  const wanted = { ...(name !== undefined && { name }), ...(scenarioIds && { scenarioIds }) };
  return json(200, entityOf(found(await parts.suites.change(id, workspaceId, wanted), WHAT)));
};

const remove: AgentTestHandler = async (request, { suites }, { workspaceId }) =>
  gone(await suites.remove(suiteIdOf(request), workspaceId), WHAT);

const SUITES = `${TESTS}/suites`;
const SUITE = `${SUITES}/{suite_id}`;

export const SUITE_ROWS: readonly AgentTestRow[] = tagged('tests', [
  {
    method: 'GET',
    path: SUITES,
    // As for the runs that play them.
    permission: 'records',
    handler: list,
    description: {
      summary: 'List suites',
      description: 'Newest first.',
      parameters: [AGENT_FILTER, ...PAGING],
      responses: { ...answers(200, 'One page', Page(LIST, SuiteEntity)), ...failures(400) },
    },
  },
  {
    method: 'POST',
    path: SUITES,
    permission: 'manage',
    handler: create,
    audit: { action: 'suite.created', subject: 'suite_id' },
    description: {
      summary: 'Create a suite',
      description: 'Its name must be unique among the suites of the agent (409).',
      requestBody: jsonBody(SuiteCreation),
      responses: { ...answers(201, 'The suite', SuiteEntity), ...bodyFailures(404, 409) },
    },
  },
  {
    method: 'GET',
    path: SUITE,
    permission: 'records',
    handler: read,
    description: {
      summary: 'Read a suite',
      responses: { ...answers(200, 'The suite', SuiteEntity), ...failures(404) },
    },
  },
  {
    method: 'PATCH',
    path: SUITE,
    permission: 'manage',
    handler: change,
    audit: { action: 'suite.changed', subject: 'suite_id' },
    description: {
      summary: 'Change a suite',
      description: 'Absent fields stay as they are; the list is replaced.',
      requestBody: jsonBody(SuiteChange),
      responses: { ...answers(200, 'The suite', SuiteEntity), ...bodyFailures(404, 409) },
    },
  },
  {
    method: 'DELETE',
    path: SUITE,
    permission: 'manage',
    handler: remove,
    audit: { action: 'suite.deleted', subject: 'suite_id' },
    description: {
      summary: 'Delete a suite',
      description: 'Its scenarios and its runs stay.',
      responses: { ...answers(204, 'Gone'), ...failures(404) },
    },
  },
]);
