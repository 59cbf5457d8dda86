/** Figures of ended calls over time (docs/contract/platform.md 6.11). */
import { LIMITS } from '../../../contracts/limits.js';
import { ENDED_REASONS } from '../../../contracts/ports/sessions/sessions.js';
import { type CallFigures, STATS_STEPS, type StatsFilter } from '../../../contracts/ports/sessions/stats.js';
import { CALL_KINDS } from '../../../contracts/sessions/call-figures.js';
import { Moment, nullable } from '../../../contracts/schemas/shapes.js';
import { Type } from '../../../contracts/schemas/type.js';
import { STEP_MS, stepOf } from '../../../contracts/time/steps.js';
import { answers, queryParameter } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { momentOf } from './moments.js';
import { badQuery, oneOf, textOf, wholeOf } from './paging.js';
import { failures, type PlatformHandler, type PlatformRow } from './rows.js';

const { points: most } = LIMITS.stats;
const MOST_VERSIONS = 999_999_999;
/** Steps that are shown unless `from` is given. */
const SHOWN = { hour: 48, day: 30, week: 12 } as const;

const Count = Type.Integer({ minimum: 0 });
const Ms = nullable(Type.Integer({ minimum: 0, description: 'Null if nobody waited for an answer.' }));

const FIGURES = {
  calls: Type.Integer({
    minimum: 0,
    description: 'Sessions that have ended, in which somebody was connected.',
  }),
  completed: Count,
  failed: Count,
  success: nullable(
    Type.Number({ minimum: 0, maximum: 1, description: 'The part that was completed; null without calls.' }),
  ),
  failures: Type.Array(Type.Object({ reason: Type.Enum(Object.keys(ENDED_REASONS)), calls: Count }), {
    description: 'Failed calls by their `ended_reason`, the most frequent first.',
  }),
  not_joined: Type.Integer({ minimum: 0, description: 'Sessions that ended before anybody was connected.' }),
  answers: Type.Integer({ minimum: 0, description: 'Answers of the agent that were heard or failed.' }),
  failed_answers: Count,
  latency: Type.Object(
    { p50_ms: Ms, p90_ms: Ms },
    {
      description:
        "From the end of a user's turn to the agent's voice: half of them, and nine of ten, were quicker.",
    },
  ),
  tool_calls: Count,
  failed_tool_calls: Count,
  words_user: Count,
  words_agent: Count,
  minutes: Type.Number({ minimum: 0, description: 'Of calls.' }),
  costs: Type.Optional(
    Type.Array(Type.Object({ currency: Type.String(), amount: Type.Number({ minimum: 0 }) }), {
      description: 'By `PRICES` at the beginning of each call; absent if there were none.',
    }),
  ),
};

const StatsEntity = Type.Object(
  {
    from: Moment,
    to: Moment,
    step: Type.Enum([...STATS_STEPS]),
    total: Type.Object(FIGURES),
    points: Type.Array(Type.Object({ at: Moment, ...FIGURES }), {
      description: 'One for each step, oldest first, also without calls. A call counts where it has ended.',
    }),
  },
  { title: 'CallStats' },
);

const MINUTE_MS = 60_000;

const figuresBody = (figures: CallFigures) => ({
  calls: figures.calls,
  completed: figures.completed,
  failed: figures.calls - figures.completed,
  success: figures.calls === 0 ? null : figures.completed / figures.calls,
  failures: figures.failures,
  not_joined: figures.notJoined,
  answers: figures.answers,
  failed_answers: figures.failedAnswers,
  latency: { p50_ms: figures.p50Ms, p90_ms: figures.p90Ms },
  tool_calls: figures.tools,
  failed_tool_calls: figures.failedTools,
  words_user: figures.wordsUser,
  words_agent: figures.wordsAgent,
  minutes: Math.round((figures.callMs / MINUTE_MS) * 100) / 100,
  ...(figures.costs.length > 0 && { costs: figures.costs }),
});

/** Errors: `invalid_request` for an empty span, or one of too many steps. */
function spanOf(query: URLSearchParams, now: Date): Pick<StatsFilter, 'from' | 'to' | 'step'> {
  const step = oneOf(query, 'step', STATS_STEPS) ?? 'day';
  const to = momentOf(query, 'to') ?? now;
  const first = momentOf(query, 'from') ?? new Date(to.getTime() - (SHOWN[step] - 1) * STEP_MS[step]);
  const from = stepOf(step, first);
  if (from >= to) throw badQuery('from', 'from must be before to');
  if ((to.getTime() - from.getTime()) / STEP_MS[step] > most)
    throw badQuery('from', `from and to must not be more than ${most} steps apart; take a longer step`);
  return { from, to, step };
}

function filterOf(query: URLSearchParams, now: Date): StatsFilter {
  const agentId = textOf(query, 'agent_id', LIMITS.session.agentId);
  const version = wholeOf(query, 'version', 0, MOST_VERSIONS);
  const kind = oneOf(query, 'kind', CALL_KINDS);
  return {
    ...spanOf(query, now),
    ...(agentId !== undefined && { agentId }),
    ...(version !== undefined && { version }),
    ...(kind !== undefined && { kind }),
  };
}

const read: PlatformHandler = async ({ query }, { stats, clock }, { workspaceId }) => {
  const filter = filterOf(query, new Date(clock.now()));
  const { total, points } = await stats.read(workspaceId, filter);
  const body = {
    from: filter.from.toISOString(),
    to: filter.to.toISOString(),
    step: filter.step,
    total: figuresBody(total),
    points: points.map(({ at, ...figures }) => ({ at: at.toISOString(), ...figuresBody(figures) })),
  };
  return json(200, body, { 'cache-control': 'no-store' });
};

export const STATS_ROWS: readonly PlatformRow[] = tagged('sessions', [
  {
    method: 'GET',
    path: '/v1/agent/stats',
    permission: 'records',
    handler: read,
    description: {
      summary: 'Figures of calls',
      operationId: 'readStats',
      description:
        'Calls that have ended, latency of answers, success, failures by cause, words, minutes and cost, over hours, days or ' +
        'weeks (UTC; weeks begin on Monday). Kept for `STATS_DAYS`, also when the sessions were deleted.',
      parameters: [
        queryParameter(
          'from',
          { type: 'string' },
          `A date or date-time. Default: ${SHOWN.hour} hours, ${SHOWN.day} days or ${SHOWN.week} weeks before \`to\`.`,
        ),
        queryParameter('to', { type: 'string' }, 'Excluded. Default: now.'),
        queryParameter(
          'step',
          { enum: STATS_STEPS, default: 'day' },
          `At most ${most} of them in one answer.`,
        ),
        queryParameter('agent_id', { type: 'string', maxLength: LIMITS.session.agentId }),
        queryParameter('version', { type: 'integer', minimum: 0, maximum: MOST_VERSIONS }, '0: the draft.'),
        queryParameter(
          'kind',
          { enum: CALL_KINDS },
          'Default: all but `dashboard`, which are previews and tests.',
        ),
      ],
      responses: { ...answers(200, 'The figures', StatsEntity), ...failures(400) },
    },
  },
]);
