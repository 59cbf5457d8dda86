/** Scenarios (docs/contract/platform.md 6.12). */
import type { Scenario } from '../../../../contracts/ports/agents/agent-tests.js';
import {
  reviseScenario,
  ScenarioChange,
  ScenarioCreation,
  ScenarioEntity,
} from '../../../../contracts/schemas/agent-tests.js';
import { answers, jsonBody } from '../../../server/openapi/openapi-parts.js';
import { json } from '../../../server/replies.js';
import { tagged } from '../../../server/routes.js';
import { readBody } from '../bodies.js';
import { checked } from '../checked.js';
import { foreignProblems, refuse } from '../errors.js';
import { Page, pageBody, pageRequest, PAGING } from '../paging.js';
import { bodyFailures, failures, found, gone, idOf } from '../rows.js';
import { AGENT_FILTER, agentFilter, type AgentTestHandler, type AgentTestRow, TESTS } from './parts.js';
import { checkScenario } from './scenario-check.js';

const WHAT = 'Scenario';
const LIST = 'scenarios';

const checkCreation = checked(ScenarioCreation);
const checkChange = checked(ScenarioChange);

const scenarioIdOf = (request: Parameters<AgentTestHandler>[0]): string => idOf(request, 'scenario_id', WHAT);

const entityOf = ({ id, agentId, name, definition, createdAt, updatedAt }: Scenario): object => ({
  scenario_id: id,
  agent_id: agentId,
  name,
  ...definition,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

const list: AgentTestHandler = async ({ query }, { scenarios }, { workspaceId }) => {
  const listed = await scenarios.list(workspaceId, agentFilter(query), pageRequest(query, LIST));
  return json(200, pageBody(LIST, LIST, listed, entityOf));
};

const create: AgentTestHandler = async (request, { scenarios, tokens }, caller) => {
  const { workspaceId } = caller;
  const wanted = checkCreation(await readBody(request));
  const definition = reviseScenario(undefined, wanted);
  await checkScenario(definition, caller, tokens);
  const { agent_id: agentId, name } = wanted;
  return json(
    201,
    entityOf(found(await scenarios.create({ agentId, name, definition }, workspaceId), 'Agent')),
  );
};

const read: AgentTestHandler = async (request, { scenarios }, { workspaceId }) =>
  json(200, entityOf(found(await scenarios.read(scenarioIdOf(request), workspaceId), WHAT)));

const change: AgentTestHandler = async (request, { scenarios, tokens }, caller) => {
  const { workspaceId } = caller;
  const id = scenarioIdOf(request);
  const wanted = checkChange(await readBody(request));
  const current = found(await scenarios.read(id, workspaceId), WHAT);
  refuse(foreignProblems(wanted, { scenario_id: id, agent_id: current.agentId }));
  // Counting tokens takes time, so no row is locked meanwhile.
  await checkScenario(reviseScenario(current.definition, wanted), caller, tokens);
  const changed = await scenarios.change(id, workspaceId, ({ name, definition }) => ({
    name: wanted.name ?? name,
    definition: reviseScenario(definition, wanted),
  }));
  return json(200, entityOf(found(changed, WHAT)));
};

const remove: AgentTestHandler = async (request, { scenarios }, { workspaceId }) =>
  gone(await scenarios.remove(scenarioIdOf(request), workspaceId), WHAT);

const SCENARIOS = `${TESTS}/scenarios`;
const SCENARIO = `${SCENARIOS}/{scenario_id}`;

export const SCENARIO_ROWS: readonly AgentTestRow[] = tagged('tests', [
  {
    method: 'GET',
    path: SCENARIOS,
    // As for the runs that play them.
    permission: 'records',
    handler: list,
    description: {
      summary: 'List scenarios',
      description: 'Newest first.',
      parameters: [AGENT_FILTER, ...PAGING],
      responses: { ...answers(200, 'One page', Page(LIST, ScenarioEntity)), ...failures(400) },
    },
  },
  {
    method: 'POST',
    path: SCENARIOS,
    permission: 'manage',
    handler: create,
    audit: { action: 'scenario.created', subject: 'scenario_id' },
    description: {
      summary: 'Create a scenario',
      description:
        'A conversation of a simulated user with the agent, and the checks on it. 409 if the agent has as many as it may have.',
      requestBody: jsonBody(ScenarioCreation),
      responses: { ...answers(201, 'The scenario', ScenarioEntity), ...bodyFailures(404, 409) },
    },
  },
  {
    method: 'GET',
    path: SCENARIO,
    permission: 'records',
    handler: read,
    description: {
      summary: 'Read a scenario',
      responses: { ...answers(200, 'The scenario', ScenarioEntity), ...failures(404) },
    },
  },
  {
    method: 'PATCH',
    path: SCENARIO,
    permission: 'manage',
    handler: change,
    audit: { action: 'scenario.changed', subject: 'scenario_id' },
    description: {
      summary: 'Change a scenario',
      description:
        'Absent fields stay as they are, lists are replaced, null means the default. Existing runs keep the scenario as it was.',
      requestBody: jsonBody(ScenarioChange),
      responses: { ...answers(200, 'The scenario', ScenarioEntity), ...bodyFailures(404) },
    },
  },
  {
    method: 'DELETE',
    path: SCENARIO,
    permission: 'manage',
    handler: remove,
    audit: { action: 'scenario.deleted', subject: 'scenario_id' },
    description: {
      summary: 'Delete a scenario',
      description: 'Removes it from its suites, too. Results of runs stay.',
      responses: { ...answers(204, 'Gone'), ...failures(404) },
    },
  },
]);
