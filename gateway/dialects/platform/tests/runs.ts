/** Runs of scenarios (docs/contract/platform.md 6.12): starting, reading, comparing, cancelling, deleting. */
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { RunnableAgent, RunnableVersion } from '../../../../contracts/ports/agents/agents.js';
import type { Scenario, Suite } from '../../../../contracts/ports/agents/agent-tests.js';
import type { SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';
import type { Static } from '../../../../contracts/schemas/type.js';
import { json } from '../../../server/replies.js';
import { readBody } from '../bodies.js';
import { checked } from '../checked.js';
import { notFound, problem, refuse, rethrowUnder } from '../errors.js';
import { badQuery, pageBody, pageRequest, textOf } from '../paging.js';
import { found, idOf } from '../rows.js';
import { planOf } from '../sessions/plan.js';
import { pinnedAgents } from '../sessions/transfers.js';
import { voiceProblems } from '../voice-check.js';
import { permit } from '../sessions/values.js';
import { agentFilter, type AgentTestHandler, type TestParts } from './parts.js';
import { comparison, resultEntity, runEntity, runRow } from './run-entity.js';
import { RunCreation } from './run-schema.js';
import { needsModel, wantedOf } from './scenario-check.js';
import { knownScenarios } from './suites.js';

const WHAT = 'Run';
export const LIST = 'runs';

const checkCreation = checked(RunCreation);

type Wanted = Static<typeof RunCreation>;

const conflict = (message: string): ServiceError => new ServiceError('conflict', { message });

const NUMBER = /^[1-9]\d{0,8}$/;

/** Errors: `not_found`, `conflict`, `validation_failed`. */
async function runnableOf(
  { agent_id: agentId, version: wanted }: Wanted,
  workspaceId: string,
  { agents }: TestParts,
): Promise<RunnableAgent & { readonly version: RunnableVersion }> {
  const name = String(wanted ?? 'draft');
  const isNumber = NUMBER.test(name);
  if (!isNumber && name !== 'draft' && name !== 'live')
    refuse([problem(['version'], 'version must be draft, live, or the number of a version')]);
  const finding = isNumber
    ? agents.version(agentId, workspaceId, Number(name))
    : agents[name === 'live' ? 'find' : 'draft'](agentId, workspaceId);
  const { agent, version } = found(await finding, 'Agent');
  if (agent.status === 'archived') throw conflict('Agent is archived');
  if (version) return { agent, version };
  throw isNumber ? notFound('Version') : conflict('Agent has no published version');
}

interface Chosen {
  readonly suite?: Suite;
  readonly scenarios: readonly Scenario[];
}

/** Errors: `not_found`, `validation_failed`. */
async function chosenBy(
  { agent_id: agentId, suite_id: suiteId, scenario_ids: ids }: Wanted,
  workspaceId: string,
  parts: TestParts,
): Promise<Chosen> {
  if (suiteId && ids) refuse([problem(['scenario_ids'], 'suite_id and scenario_ids are mutually exclusive')]);
  if (ids) return { scenarios: await knownScenarios(ids, agentId, workspaceId, parts) };
  if (!suiteId) return { scenarios: await parts.scenarios.of(agentId, workspaceId) };
  const suite = found(await parts.suites.read(suiteId, workspaceId), 'Suite');
  if (suite.agentId !== agentId) throw notFound('Suite');
  return { suite, scenarios: await parts.scenarios.of(agentId, workspaceId, suite.scenarioIds) };
}

/** Errors: `conflict` for no scenarios, too many, or ones that this gateway cannot play. */
function checkPlayable({ scenarios, suite }: Chosen, { hasModel, hasCalls }: TestParts): void {
  const { perRun } = LIMITS.agentTest;
  if (scenarios.length === 0) throw conflict(`The ${suite ? 'suite' : 'agent'} has no scenarios`);
  if (scenarios.length > perRun) throw conflict(`A run has ${perRun} scenarios at most; name a suite`);
  const spoken = scenarios.find(({ definition }) => definition.mode === 'voice');
  if (spoken && !hasCalls)
    throw conflict(`“${spoken.name}” is by voice: in livekit mode a gateway carries no calls of its own`);
  if (hasModel) return;
  for (const { name, definition } of scenarios) {
    const why = needsModel(definition);
    if (why !== undefined)
      throw conflict(`“${name}” needs a language model, since ${why}: none is configured (LLM_BASE_URL)`);
  }
}

/** Errors: those of creating a session with the same request. */
function planFor(
  { id, definition }: Scenario,
  { agent, version }: RunnableAgent & { readonly version: RunnableVersion },
  circumstances: Parameters<typeof planOf>[3],
): SessionPlan {
  const wanted = wantedOf(definition);
  try {
    permit(wanted, agent.overridesAllowed, false);
    return planOf(version, wanted, true, circumstances);
  } catch (error) {
    return rethrowUnder(id, error);
  }
}

/** Checks the voices and the speech recognition of agent and caller. Errors: `conflict`, `validation_failed`, `overloaded`. */
async function checkVoices(
  { id, definition }: Scenario,
  { config }: SessionPlan,
  workspaceId: string,
  parts: TestParts,
) {
  if (definition.mode !== 'voice') return;
  const { speaking_language: language } = config.voice;
  if (!parts.transcribes(language)) throw conflict(`No speech recognition for "${language}"`);
  const { voice = '' } = definition.caller ?? {};
  refuse([
    ...(await voiceProblems(config.voice, workspaceId, parts.speech, [id, 'overrides', 'voice_id'])),
    ...(await voiceProblems({ ...config.voice, voice_id: voice }, workspaceId, parts.speech, [
      id,
      'caller',
      'voice',
    ])),
  ]);
}

export const create: AgentTestHandler = async (request, parts, { workspaceId }) => {
  const wanted = checkCreation(await readBody(request));
  const runnable = await runnableOf(wanted, workspaceId, parts);
  const chosen = await chosenBy(wanted, workspaceId, parts);
  checkPlayable(chosen, parts);
  const { agent, version } = runnable;
  const agents = await pinnedAgents(version.config, workspaceId, parts);
  const circumstances = { now: new Date(parts.clock.now()), agents };
  const scenarios = chosen.scenarios.map((scenario) => ({
    scenario,
    plan: planFor(scenario, runnable, circumstances),
  }));
  for (const { scenario, plan } of scenarios) await checkVoices(scenario, plan, workspaceId, parts);
  const run = {
    agentId: agent.id,
    agentName: agent.name,
    suite: chosen.suite,
    versionNumber: version.number === 0 ? null : version.number,
    configHash: version.configHash,
    scenarios,
  };
  return json(201, runEntity(await parts.runs.create(run, workspaceId)));
};

const runIdOf = (request: Parameters<AgentTestHandler>[0]): string => idOf(request, 'run_id', WHAT);

export const list: AgentTestHandler = async ({ query }, { runs }, { workspaceId }) => {
  const listed = await runs.list(workspaceId, agentFilter(query), pageRequest(query, LIST));
  return json(200, pageBody(LIST, LIST, listed, runRow));
};

export const read: AgentTestHandler = async (request, { runs }, { workspaceId }) =>
  json(200, runEntity(found(await runs.read(runIdOf(request), workspaceId), WHAT)));

export const result: AgentTestHandler = async (request, { runs }, { workspaceId }) => {
  const scenarioId = idOf(request, 'scenario_id', 'Result');
  return json(
    200,
    resultEntity(found(await runs.result(runIdOf(request), scenarioId, workspaceId), 'Result')),
  );
};

export const compare: AgentTestHandler = async ({ query }, { runs }, { workspaceId }) => {
  const [base, other] = await Promise.all(
    ['base', 'other'].map(async (name) => {
      const id = textOf(query, name, LIMITS.session.agentId);
      if (id === undefined) throw badQuery(name, `${name} must be the id of a run`);
      return found(await runs.read(id, workspaceId), WHAT);
    }),
  );
  if (!base || base.agentId !== other?.agentId) throw badQuery('other', 'Both runs must be of one agent');
  return json(200, comparison(base, other));
};

export const cancel: AgentTestHandler = async (request, { runs }, { workspaceId }) =>
  json(200, runEntity(found(await runs.cancel(runIdOf(request), workspaceId), WHAT)));

export const remove: AgentTestHandler = async (request, { runs }, { workspaceId }) => {
  const removal = await runs.remove(runIdOf(request), workspaceId);
  if (removal === 'unknown') throw notFound(WHAT);
  if (removal === 'open') throw conflict('The run is not over; cancel it first');
  return { status: 204 };
};
