/**
 * The queue of analyses (contracts/ports/sessions/sessions.ts `AnalysisQueue`): sessions with a due time in their row. If a process
 * dies with one, another takes it; after three the analysis has failed. Its event is delivered all the same: every
 * `call.ended` is followed by an analysed event.
 */
import { LIMITS } from '../../contracts/limits.js';
import type { AnalysisQueue, SessionAnalysis } from '../../contracts/ports/sessions/sessions.js';
import { completeConfig } from '../../contracts/schemas/agent-merge.js';
import { analyzedBody } from '../../contracts/sessions/post-call.js';
import type { StoredPlan } from '../plans/plan-contents.js';
import type { Sql } from '../postgres/sql.js';
import { addDeliveries } from '../deliveries.js';
import { columns, itemsOf, recordOf, type Row } from './rows.js';
import { reportOf } from './turns.js';

type Planned = Row & { readonly plan: StoredPlan };

/** Of a session of the previous release, which knew no model of an agent's own; what was rendered is gone by then. */
const withModel = (config: StoredPlan['config']): StoredPlan['config'] => ({
  ...config,
  llm: completeConfig(config).llm,
});

const GIVEN_UP: SessionAnalysis = {
  status: 'error',
  summary: null,
  data: [],
  criteriaResults: [],
  error: 'The analysis could not be made',
};

/** Workspaces take turns: the next is of the workspace with the fewest under way, which are those that have begun and are not due. */
const takeNext = (sql: Sql, leaseMs: number) => sql<(Planned & { attempts: number })[]>`
  with busy as (
    select workspace_id, count(*) as running from sessions
    where analysis_due_at > now() and analysis_attempts > 0 group by workspace_id)
  update sessions s set
    analysis_attempts = s.analysis_attempts + 1,
    analysis_due_at = now() + ${leaseMs}::int * interval '1 millisecond'
  where s.id = (
    select d.id from sessions d left join busy on busy.workspace_id = d.workspace_id
    where d.analysis_due_at <= now()
    order by coalesce(busy.running, 0), d.analysis_due_at limit 1 for update of d skip locked
  )
  returning ${columns(sql)}, s.plan, s.analysis_attempts as attempts`;

const finish = (sql: Sql, id: string, analysis: SessionAnalysis): Promise<void> =>
  sql.begin(async (tx) => {
    const [row] = await tx<(Planned & { finishedAt: Date; prices: string | null })[]>`
      with before as (select id, plan from sessions where id = ${id} and analysis_due_at is not null for update)
      update sessions s set analysis = ${JSON.stringify(analysis)}, analysis_due_at = null, plan = null
      from before where s.id = before.id
      returning ${columns(tx)}, before.plan, s.prices, date_trunc('milliseconds', now()) as "finishedAt"`;
    if (!row) return;
    const record = recordOf(row);
    const urls = row.plan.config.webhooks.post_call.map(({ url }) => url);
    if (urls.length === 0) return;
    const report = await reportOf(tx, record, row.prices);
    const body = (eventId: string): string => analyzedBody(eventId, record, report, analysis, row.finishedAt);
    await addDeliveries(tx, { record, event: 'call.analyzed', urls, body });
  }) as Promise<void>;

export const createAnalysisQueue = (sql: Sql): AnalysisQueue => ({
  async take(leaseMs) {
    for (;;) {
      const [row] = await takeNext(sql, leaseMs);
      if (!row) return undefined;
      const { plan, attempts, ...rest } = row;
      if (attempts <= LIMITS.session.analysisAttempts)
        return {
          record: recordOf(rest),
          plan: { config: withModel(plan.config) },
          items: await itemsOf(sql, row.id),
        };
      await finish(sql, row.id, GIVEN_UP);
    }
  },
  finish: (id, analysis) => finish(sql, id, analysis),
});
