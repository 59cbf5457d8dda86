/** Suites of tests of agents on the wire (docs/contract/platform.md 6.12). */
import { LIMITS } from '../limits.js';
import { SHOWN, TIMES, TIMES_EXAMPLE } from './agent-tests.js';
import { strict, text } from './shapes.js';
import { Type } from './type.js';
import { readOnly } from './write-only.js';

const { agentTest: limits, session } = LIMITS;

const ScenarioIds = Type.Array(text({ min: 1, max: session.agentId }), {
  minItems: 1,
  maxItems: limits.perRun,
  description: 'Scenarios of this agent, in the order in which they are shown.',
});

const SUITE_EXAMPLE = {
  agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
  name: 'Before a release',
  scenario_ids: ['scn_5f0c8a1b2c3d4e5f60718293'],
};

export const SuiteCreation = strict(
  { agent_id: text({ min: 1, max: session.agentId }), name: text(limits.name), scenario_ids: ScenarioIds },
  { examples: [SUITE_EXAMPLE] },
);

export const SuiteChange = strict(
  {
    name: Type.Optional(text(limits.name)),
    scenario_ids: Type.Optional(ScenarioIds),
    suite_id: readOnly.own,
    ...SHOWN,
  },
  { examples: [{ name: 'Nightly' }] },
);

export const SuiteEntity = Type.Object(
  {
    suite_id: Type.String(),
    agent_id: Type.String(),
    name: Type.String(),
    scenario_ids: Type.Array(Type.String()),
    ...TIMES,
  },
  {
    title: 'Suite',
    examples: [{ suite_id: 'suite_5f0c8a1b2c3d4e5f60718293', ...SUITE_EXAMPLE, ...TIMES_EXAMPLE }],
  },
);
