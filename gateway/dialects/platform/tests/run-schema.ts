/** Schemas of requests and answers about runs (docs/contract/platform.md 6.12). */
import { LIMITS } from '../../../../contracts/limits.js';
import { TEST_STATUSES } from '../../../../contracts/agents/test-run-states.js';
import { CHECK_TYPES, ENDED_BY } from '../../../../contracts/schemas/agent-tests.js';
import { leaf, Moment, nullable, strict, text } from '../../../../contracts/schemas/shapes.js';
import { Type } from '../../../../contracts/schemas/type.js';

const { agentTest, session } = LIMITS;

const Id = text({ min: 1, max: session.agentId });
const Status = Type.Enum([...TEST_STATUSES]);

export const RunCreation = strict(
  {
    agent_id: Id,
    suite_id: leaf(text(session.agentId, { description: 'Absent: see `scenario_ids`.' })),
    scenario_ids: leaf(
      Type.Array(Id, {
        minItems: 1,
        maxItems: agentTest.perRun,
        description: 'Instead of a suite. With neither, all scenarios of the agent.',
      }),
    ),
    version: leaf(
      Type.Unsafe<string | number>({
        type: ['string', 'integer'],
        default: 'draft',
        description: '`draft`, `live` (the last version), or the number of a version.',
      }),
    ),
  },
  { examples: [{ agent_id: 'agent_5f0c8a1b2c3d4e5f60718293', version: 'draft' }] },
);

const CheckResult = Type.Object({
  name: Type.String(),
  type: Type.Enum([...CHECK_TYPES, 'limit']),
  passed: Type.Boolean(),
  evidence: Type.String({ description: 'The evidence for the verdict.' }),
});

const Usage = Type.Object({
  agent_requests: Type.Integer({ description: 'Requests to the language model as the agent.' }),
  user_requests: Type.Integer({ description: 'As the simulated user.' }),
  judge_requests: Type.Integer({ description: 'As the judge.' }),
  tool_calls: Type.Integer(),
  turns: Type.Integer({ description: 'Of the user.' }),
});

const Call = Type.Object(
  {
    session_id: Type.String({
      description: 'Its session has the turns with their latencies, and the recording.',
    }),
    answers_ms: Type.Array(Type.Number(), {
      description:
        'From the end of the caller’s voice to the agent’s first sound, as the caller heard it, turn by turn.',
    }),
    silences_ms: Type.Array(Type.Number(), {
      description: 'From an interruption’s first sound to the agent’s last.',
    }),
    talk_over_ms: Type.Number({ description: 'The longest time in which both spoke.' }),
    interrupted: Type.Integer({ description: 'How often the agent began while the caller spoke.' }),
    unanswered: Type.Integer(),
  },
  { description: 'Of a scenario by voice.' },
);

const RESULT = {
  scenario_id: Type.String(),
  scenario_name: Type.String(),
  status: Status,
  error: nullable(Type.String({ description: 'The reason of `error`.' })),
  ended_by: nullable(Type.Enum([...ENDED_BY])),
  checks: Type.Array(CheckResult),
  usage: nullable(Usage),
  call: nullable(Call),
  started_at: nullable(Moment),
  ended_at: nullable(Moment),
};

export const RESULT_EXAMPLE = {
  scenario_id: 'scn_5f0c8a1b2c3d4e5f60718293',
  scenario_name: 'Asks where the order is',
  status: 'passed',
  error: null,
  ended_by: 'user',
  checks: [{ name: 'says “shipped”', type: 'contains', passed: true, evidence: '“It was shipped today.”' }],
  usage: { agent_requests: 3, user_requests: 0, judge_requests: 0, tool_calls: 1, turns: 2 },
  call: null,
  started_at: '2026-01-01T12:00:01.000Z',
  ended_at: '2026-01-01T12:00:04.000Z',
};

const Line = Type.Object({
  speaker: Type.Enum(['caller', 'agent']),
  text: Type.String({ description: 'Empty for a sound in which no words were recognised.' }),
  from_ms: Type.Number({ description: 'Since the caller was connected.' }),
  to_ms: Type.Number(),
  interrupts: Type.Optional(Type.Boolean()),
  backchannel: Type.Optional(Type.Boolean()),
});

export const ResultEntity = Type.Object(
  {
    run_id: Type.String(),
    ...RESULT,
    scenario: Type.Record(Type.String(), Type.Unknown(), { description: 'As it was when the run was made.' }),
    items: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: 'What was said and called, as a session’s `items`.',
    }),
    transcript: Type.Array(Line, {
      description: 'By voice: the caller’s words as written, and what the caller heard of the agent.',
    }),
  },
  {
    title: 'TestResult',
    examples: [
      {
        run_id: 'run_5f0c8a1b2c3d4e5f60718293',
        ...RESULT_EXAMPLE,
        scenario: { mode: 'text' },
        items: [
          {
            type: 'message',
            role: 'user',
            content: 'Where is my order?',
            turn_id: 1,
            created_at: '2026-01-01T12:00:02.000Z',
          },
        ],
        transcript: [],
      },
    ],
  },
);

const RUN = {
  run_id: Type.String(),
  agent_id: Type.String(),
  agent_name: Type.String(),
  suite_id: nullable(Type.String()),
  suite_name: nullable(Type.String()),
  version_number: nullable(Type.Integer({ description: 'Null for the draft.' })),
  config_hash: Type.String(),
  status: Type.Enum([...TEST_STATUSES], { description: 'Once it is over, the worst of its results.' }),
  counts: Type.Record(Type.String(), Type.Integer(), { description: 'Scenarios by their status.' }),
  created_at: Moment,
  started_at: nullable(Moment),
  ended_at: nullable(Moment),
};

export const RUN_EXAMPLE = {
  run_id: 'run_5f0c8a1b2c3d4e5f60718293',
  agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
  agent_name: 'Bakery',
  suite_id: null,
  suite_name: null,
  version_number: null,
  config_hash: 'sha256:2f1c0a9d8b7e6f5a4c3b2a190817263544f3e2d1c0b9a8877665544332211000',
  status: 'passed',
  counts: { passed: 1 },
  created_at: '2026-01-01T12:00:00.000Z',
  started_at: '2026-01-01T12:00:01.000Z',
  ended_at: '2026-01-01T12:00:04.000Z',
};

export const RunRow = Type.Object(RUN, { title: 'TestRunSummary', examples: [RUN_EXAMPLE] });

export const RunEntity = Type.Object(
  { ...RUN, results: Type.Array(Type.Object(RESULT)) },
  { title: 'TestRun', examples: [{ ...RUN_EXAMPLE, results: [RESULT_EXAMPLE] }] },
);

const Compared = nullable(Status);

export const CHANGES = ['same', 'fixed', 'broken', 'changed', 'added', 'removed'] as const;

export const Comparison = Type.Object(
  {
    base: RunRow,
    other: RunRow,
    scenarios: Type.Array(
      Type.Object({
        scenario_id: Type.String(),
        scenario_name: Type.String(),
        change: Type.Enum([...CHANGES], {
          description:
            '`fixed`: passed only in `other`; `broken`: only in `base`; `changed`: another status, or other checks hold.',
        }),
        base: Compared,
        other: Compared,
        checks: Type.Array(
          Type.Object({
            name: Type.String(),
            base: nullable(Type.Boolean()),
            other: nullable(Type.Boolean()),
          }),
          { description: 'Those that hold in one of the two only.' },
        ),
        calls: Type.Object({ base: nullable(Call), other: nullable(Call) }),
      }),
    ),
  },
  {
    title: 'TestRunComparison',
    examples: [
      {
        base: RUN_EXAMPLE,
        other: { ...RUN_EXAMPLE, status: 'failed', counts: { failed: 1 } },
        scenarios: [
          {
            scenario_id: RESULT_EXAMPLE.scenario_id,
            scenario_name: RESULT_EXAMPLE.scenario_name,
            change: 'broken',
            base: 'passed',
            other: 'failed',
            checks: [{ name: 'says “shipped”', base: true, other: false }],
            calls: { base: null, other: null },
          },
        ],
      },
    ],
  },
);
