/** Tests of agents on the wire: scenarios (docs/contract/platform.md 6.12). */
import { LANGUAGES } from '../speech/languages.js';
import { LIMITS } from '../limits.js';
import { leaf, Moment, strict, text, whole } from './shapes.js';
import { type Static, Type } from './type.js';
import { readOnly } from './write-only.js';

const limits = LIMITS.agentTest;
const { tool: toolLimits, session } = LIMITS;

/** How a scenario is played. */
export const TEST_MODES = ['text', 'voice'] as const;
export type TestMode = (typeof TEST_MODES)[number];

export const CHECK_TYPES = [
  'contains',
  'not_contains',
  'matches',
  'not_matches',
  'tool_called',
  'tool_not_called',
  'ended_by',
  'language',
  'turns',
  'judged',
  'answers_within',
  'silent_within',
  'talk_over',
  'never_interrupts',
  'answers_all',
] as const;
export type CheckType = (typeof CHECK_TYPES)[number];

/** Checks for scenarios by voice only. */
export const VOICE_CHECKS: ReadonlySet<CheckType> = new Set([
  'answers_within',
  'silent_within',
  'talk_over',
  'never_interrupts',
  'answers_all',
]);

/** Who or what ended a conversation. */
export const ENDED_BY = ['agent', 'user', 'turn_limit', 'time_limit'] as const;
export type EndedBy = (typeof ENDED_BY)[number];

const Value = Type.Unsafe<string | number | boolean>({
  type: ['string', 'number', 'boolean'],
  maxLength: limits.text.max,
});
const Values = Type.Record(Type.String(), Value, {
  maxProperties: limits.mockArguments,
  description: 'Arguments that must have these values; others may have any.',
});
const ToolName = text(toolLimits.name, {
  description:
    'The function name by which the model calls it, or the name from which that was made: `Look up an order` is `Look_up_an_order`.',
});

const CHECK_PROPERTIES = {
  name: Type.Optional(text(limits.name, { description: 'Shown in results; made from the check if absent.' })),
  text: Type.Optional(
    text(limits.text, { description: '`contains`, `not_contains`; case does not matter.' }),
  ),
  pattern: Type.Optional(
    text(limits.pattern, {
      description:
        '`matches`, `not_matches`: a regular expression without backreferences and look-arounds; case does not matter.',
    }),
  ),
  tool: Type.Optional(ToolName),
  arguments: Type.Optional(Values),
  times: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: '`tool_called`: exactly; absent: at least once.',
    }),
  ),
  by: Type.Optional(Type.Enum([...ENDED_BY])),
  language: Type.Optional(Type.Enum([...LANGUAGES])),
  at_least: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.turns.max })),
  at_most: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.turns.max })),
  ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.voice.after.max,
      description: '`answers_within`, `silent_within`, `talk_over`: milliseconds at most.',
    }),
  ),
  criterion: Type.Optional(
    text(limits.criterion, {
      description: '`judged`: a sentence that the language model finds true or false.',
    }),
  ),
};

type Field = Exclude<keyof typeof CHECK_PROPERTIES, 'name'>;

/** The fields of each type of check: those that it needs, and those that it may have. */
export const CHECK_FIELDS: Readonly<
  Record<CheckType, { readonly needs: readonly Field[]; readonly may: readonly Field[] }>
> = {
  contains: { needs: ['text'], may: [] },
  not_contains: { needs: ['text'], may: [] },
  matches: { needs: ['pattern'], may: [] },
  not_matches: { needs: ['pattern'], may: [] },
  tool_called: { needs: ['tool'], may: ['arguments', 'times'] },
  tool_not_called: { needs: ['tool'], may: ['arguments'] },
  ended_by: { needs: ['by'], may: [] },
  language: { needs: ['language'], may: [] },
  turns: { needs: [], may: ['at_least', 'at_most'] },
  judged: { needs: ['criterion'], may: [] },
  answers_within: { needs: ['ms'], may: [] },
  silent_within: { needs: ['ms'], may: [] },
  talk_over: { needs: ['ms'], may: [] },
  never_interrupts: { needs: [], may: [] },
  answers_all: { needs: [], may: [] },
};

export const Check = strict(
  { type: Type.Enum([...CHECK_TYPES]), ...CHECK_PROPERTIES },
  {
    // For forms.
    'x-fields': Object.fromEntries(
      Object.entries(CHECK_FIELDS).map(([type, { needs, may }]) => [type, [...needs, ...may]]),
    ),
  },
);
export type Check = Static<typeof Check>;

const User = strict(
  {
    lines: Type.Optional(
      Type.Array(text(limits.line), {
        minItems: limits.lines.min,
        maxItems: limits.lines.max,
        description: 'What the user says, turn by turn; then the user hangs up. Not together with `goal`.',
      }),
    ),
    goal: Type.Optional(
      text(limits.goal, {
        description:
          'What the user wants. The configured language model plays the user, until it is reached.',
      }),
    ),
    persona: Type.Optional(text(limits.persona, { description: 'Who the user is; beside `goal`.' })),
  },
  { description: 'The simulated user: either `lines` or a `goal`.' },
);

const Interruption = strict({
  turn: Type.Integer({
    minimum: 0,
    maximum: limits.turns.max,
    description: 'Into the answer to that line of the caller, from 1; 0: into what the agent says first.',
  }),
  after_ms: whole(limits.voice.after, { description: 'Milliseconds after the agent has begun.' }),
  say: text(limits.line),
  backchannel: Type.Optional(
    Type.Boolean({ default: false, description: 'Agreement of somebody who listens: it wants no answer.' }),
  ),
});

const SimulatedCaller = strict(
  {
    voice: Type.Optional(text(session.agentId, { description: 'Any voice; absent: the default voice.' })),
    noise_db: Type.Optional(
      Type.Number({
        minimum: limits.voice.noise.min,
        maximum: limits.voice.noise.max,
        description: 'Steady noise around the caller, beside the loudness of its voice; absent: none.',
      }),
    ),
    pause_ms: Type.Optional(
      whole(limits.voice.pause, {
        description: 'A pause in the middle of each line that has none of its own (`<break time="800ms"/>`).',
      }),
    ),
    interruptions: Type.Optional(Type.Array(Interruption, { maxItems: limits.voice.interruptions })),
  },
  { description: 'How the user of a scenario by voice speaks.' },
);

export const ToolMock = strict({
  tool: ToolName,
  arguments: Type.Optional(Values),
  output: text(limits.mockOutput, { description: 'What the tool answers.' }),
  fails: Type.Optional(Type.Boolean({ default: false, description: 'Whether that is a failure.' })),
  server: Type.Optional(
    text(toolLimits.name, {
      description: 'The name of the MCP server that offers this tool; its real tools are not listed then.',
    }),
  ),
  description: Type.Optional(text(toolLimits.description, { description: 'Of an MCP tool, for the model.' })),
});
export type ToolMock = Static<typeof ToolMock>;

/** The fields that sessions take too, with the same further checks. */
const SESSION_FIELDS = {
  overrides: leaf(
    Type.Record(Type.String(), Type.String(), {
      maxProperties: 5,
      description: 'As for a session: only those that the agent allows.',
    }),
  ),
  dynamic_variables: leaf(
    Type.Record(Type.String(), Type.Unknown(), {
      maxProperties: session.dynamicVariables,
      description: 'As for a session.',
    }),
  ),
};

const FIELDS = {
  mode: Type.Optional(
    Type.Enum([...TEST_MODES], {
      default: 'text',
      description: '`text`: the agent without media; `voice`: a call with a simulated caller.',
    }),
  ),
  caller: leaf(SimulatedCaller),
  ...SESSION_FIELDS,
  tool_mocks: Type.Optional(
    Type.Array(ToolMock, {
      maxItems: limits.mocks,
      description: 'Answers in place of tools: the first that matches a call.',
    }),
  ),
  unmocked_tools: Type.Optional(
    Type.Enum(['fail', 'call'], {
      default: 'fail',
      description: 'What happens to calls without a matching mock: they fail, or the real tool is called.',
    }),
  ),
  max_turns: Type.Optional(whole(limits.turns, { default: limits.turns.default })),
  max_seconds: Type.Optional(whole(limits.seconds, { default: limits.seconds.default })),
};

const Checks = Type.Array(Check, { maxItems: limits.checks, description: 'All must hold.' });

const SCENARIO_EXAMPLE = {
  agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
  name: 'Asks where the order is',
  user: { lines: ['Hello, where is my order A-17?', 'Thank you, bye.'] },
  tool_mocks: [{ tool: 'Look up an order', arguments: { order_id: 'A-17' }, output: '{"status":"shipped"}' }],
  checks: [
    { type: 'tool_called', tool: 'Look up an order', arguments: { order_id: 'A-17' } },
    { type: 'contains', text: 'shipped' },
  ],
};

export const ScenarioCreation = strict(
  {
    agent_id: text({ min: 1, max: session.agentId }),
    name: text(limits.name),
    user: User,
    ...FIELDS,
    checks: Type.Optional(Checks),
  },
  { examples: [SCENARIO_EXAMPLE] },
);
export type ScenarioCreation = Static<typeof ScenarioCreation>;

/** Fields that changes may repeat as reads show them. */
export const SHOWN = { agent_id: readOnly.own, created_at: readOnly.text, updated_at: readOnly.text };

export const ScenarioChange = strict(
  {
    name: Type.Optional(text(limits.name)),
    user: Type.Optional(User),
    ...FIELDS,
    checks: Type.Optional(Checks),
    scenario_id: readOnly.own,
    ...SHOWN,
  },
  { examples: [{ max_turns: 10 }] },
);
export type ScenarioChange = Static<typeof ScenarioChange>;

/** A complete scenario, apart from its name and its agent. */
export interface ScenarioDefinition {
  readonly mode: (typeof TEST_MODES)[number];
  readonly user: Static<typeof User>;
  /** By voice. */
  readonly caller?: Static<typeof SimulatedCaller>;
  readonly overrides: Readonly<Record<string, string>>;
  readonly dynamic_variables: Readonly<Record<string, unknown>>;
  readonly tool_mocks: readonly ToolMock[];
  readonly unmocked_tools: 'fail' | 'call';
  readonly max_turns: number;
  readonly max_seconds: number;
  readonly checks: readonly Check[];
}

const DEFAULTS: Omit<ScenarioDefinition, 'user'> = {
  mode: 'text',
  overrides: {},
  dynamic_variables: {},
  tool_mocks: [],
  unmocked_tools: 'fail',
  max_turns: limits.turns.default,
  max_seconds: limits.seconds.default,
  checks: [],
};

/** A scenario after a change; lists are replaced, null is the default. */
export function reviseScenario(
  current: ScenarioDefinition | undefined,
  change: ScenarioChange,
): ScenarioDefinition {
  const {
    name: _name,
    scenario_id: _id,
    agent_id: _agent,
    created_at: _at,
    updated_at: _then,
    ...wanted
  } = change;
  const fields = Object.entries(wanted).map(([field, value]) => [
    field,
    value === null ? DEFAULTS[field as keyof typeof DEFAULTS] : value,
  ]);
  return {
    ...DEFAULTS,
    user: {},
    ...current,
    ...(Object.fromEntries(fields) as Partial<ScenarioDefinition>),
  };
}

const IDENTITY = {
  scenario_id: Type.String(),
  agent_id: Type.String(),
  name: Type.String(),
};
export const TIMES = { created_at: Moment, updated_at: Moment };
export const TIMES_EXAMPLE = {
  created_at: '2026-01-01T12:00:00.000Z',
  updated_at: '2026-01-01T12:00:00.000Z',
};

export const ScenarioEntity = Type.Object(
  {
    ...IDENTITY,
    mode: Type.Enum([...TEST_MODES]),
    user: User,
    caller: Type.Optional(SimulatedCaller),
    overrides: Type.Record(Type.String(), Type.String()),
    dynamic_variables: Type.Record(Type.String(), Type.Unknown()),
    tool_mocks: Type.Array(ToolMock),
    unmocked_tools: Type.Enum(['fail', 'call']),
    max_turns: Type.Integer(),
    max_seconds: Type.Integer(),
    checks: Type.Array(Check),
    ...TIMES,
  },
  {
    title: 'Scenario',
    examples: [
      { scenario_id: 'scn_5f0c8a1b2c3d4e5f60718293', ...DEFAULTS, ...SCENARIO_EXAMPLE, ...TIMES_EXAMPLE },
    ],
  },
);
