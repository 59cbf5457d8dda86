/** The routes of runs, with their descriptions for `/openapi.json`. */
import { answers, jsonBody, queryParameter } from '../../../server/openapi/openapi-parts.js';
import { tagged } from '../../../server/routes.js';
import { Page, PAGING } from '../paging.js';
import { bodyFailures, failures } from '../rows.js';
import { AGENT_FILTER, type AgentTestRow, TESTS } from './parts.js';
import { Comparison, ResultEntity, RunCreation, RunEntity, RunRow } from './run-schema.js';
import { cancel, compare, create, list, LIST, read, remove, result } from './runs.js';

const RUNS = `${TESTS}/runs`;
const RUN = `${RUNS}/{run_id}`;
const Id = { type: 'string' };

export const RUN_ROWS: readonly AgentTestRow[] = tagged('tests', [
  {
    method: 'GET',
    path: RUNS,
    // Their transcripts are records.
    permission: 'records',
    handler: list,
    description: {
      summary: 'List runs',
      description: 'Newest first.',
      parameters: [AGENT_FILTER, ...PAGING],
      responses: { ...answers(200, 'One page', Page(LIST, RunRow)), ...failures(400) },
    },
  },
  {
    method: 'POST',
    path: RUNS,
    // It creates sessions.
    permission: 'sessions',
    handler: create,
    description: {
      summary: 'Start a run',
      description:
        'Plays scenarios against the draft or a version, as they are now. Overrides that the agent does not allow are 400. 409 ' +
        'if there is nothing to play, a scenario needs a language model and none is configured, or too many runs have not ended.',
      requestBody: jsonBody(RunCreation),
      responses: { ...answers(201, 'The run, queued', RunEntity), ...bodyFailures(404, 409) },
    },
  },
  {
    method: 'GET',
    path: `${RUNS}/compare`,
    permission: 'records',
    handler: compare,
    description: {
      summary: 'Compare two runs',
      description: 'Of one agent, scenario by scenario.',
      parameters: [
        { ...queryParameter('base', Id, 'The id of a run.'), required: true },
        { ...queryParameter('other', Id, 'The id of another one.'), required: true },
      ],
      responses: { ...answers(200, 'What changed', Comparison), ...failures(400, 404) },
    },
  },
  {
    method: 'GET',
    path: RUN,
    permission: 'records',
    handler: read,
    description: {
      summary: 'Read a run',
      responses: { ...answers(200, 'The run with its results', RunEntity), ...failures(404) },
    },
  },
  {
    method: 'GET',
    path: `${RUN}/results/{scenario_id}`,
    permission: 'records',
    handler: result,
    description: {
      summary: 'Read a result',
      description: 'With the transcript and the tool calls.',
      responses: { ...answers(200, 'The result', ResultEntity), ...failures(404) },
    },
  },
  {
    method: 'POST',
    path: `${RUN}/cancel`,
    permission: 'sessions',
    handler: cancel,
    description: {
      summary: 'Cancel a run',
      description: 'Scenarios that have not ended become `cancelled`. A run that has ended stays as it is.',
      responses: { ...answers(200, 'The run', RunEntity), ...failures(404) },
    },
  },
  {
    method: 'DELETE',
    path: RUN,
    permission: 'manage',
    handler: remove,
    audit: { action: 'test_run.deleted', subject: 'run_id' },
    description: {
      summary: 'Delete a run',
      description: 'With its transcripts. Not before it has ended.',
      responses: { ...answers(204, 'Gone'), ...failures(404, 409) },
    },
  },
]);
