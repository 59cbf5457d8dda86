/**
 * The end of a session: one statement decides who ends it; the consequences (deliveries, the queued analysis, what it
 * adds to the figures) are written in the same transaction. The texts with the session's variables are deleted then.
 */
import { target } from '../../contracts/lifecycle.js';
import { LIMITS } from '../../contracts/limits.js';
import type { EndedReason, SessionRecord } from '../../contracts/ports/sessions/sessions.js';
import { endedBody } from '../../contracts/sessions/post-call.js';
import {
  answeringSession,
  CONVERSING,
  SESSION,
  statusAfter,
  UNCONNECTED,
} from '../../contracts/sessions/session-states.js';
import type { StoredPlan } from '../plans/plan-contents.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { addDeliveries } from '../deliveries.js';
import { addFigures } from './figures.js';
import { tellDialled } from '../phone/dial-events.js';
import { columns, lastedUntilNow, recordOf, type Row } from './rows.js';
import { isIn } from './states.js';
import { reportOf } from './turns.js';

interface Ended extends Row {
  readonly plan: StoredPlan | null;
  readonly prices: string | null;
}

/**
 * The owner that the session must still have for this end to apply: that process, with how long the call has lasted by its
 * clock, or none (`lost`). Default: any.
 */
type Only = { readonly ownerId: string; readonly lastedMs: number | null } | 'lost' | undefined;

function conditionOf(tx: Transaction, only: Only) {
  if (only === undefined) return tx`true`;
  return only === 'lost' ? tx`s.lost_at is not null` : tx`s.owner_id = ${only.ownerId}`;
}

/** Pending sessions fail, whatever the reason; only conversations are analysed, except previews. */
const update = (tx: Transaction, id: string, reason: EndedReason, only: Only) => tx<Ended[]>`
  update sessions s set
    status = case when ${isIn(tx, UNCONNECTED)} then ${statusAfter('joined', reason) ?? null} else ${statusAfter('active', reason) ?? null} end,
    ended_at = greatest(s.started_at, date_trunc('milliseconds', clock_timestamp())),
    ended_reason = ${reason},
    measured_ms = coalesce(${typeof only === 'object' ? only.lastedMs : null}::bigint, ${lastedUntilNow(tx)}),
    analysis_due_at = case when ${isIn(tx, CONVERSING)} and s.source <> 'dashboard'
      then now() + ${LIMITS.session.lastWordsMs}::int * interval '1 millisecond' end,
    plan = case when ${isIn(tx, CONVERSING)} and s.source <> 'dashboard' then s.plan #- '{config,prompt}' #- '{transfers}' #- '{system}' #- '{voicemail}' #- '{terms}' end
  where s.id = ${id} and ${isIn(tx, answeringSession(reason))} and ${conditionOf(tx, only)}
  returning ${columns(tx)}, s.plan, s.prices`;

/**
 * Ends an agent's sessions that wait to be joined, once it is archived or deleted: nobody can join them any more. Its
 * running conversations continue. Sessions that nobody joined cause no deliveries.
 */
export const endPendingOf = (tx: Transaction, agentId: string, workspaceId: string) => tx`
  update sessions s set status = ${target(SESSION, 'agent_gone')}, ended_at = date_trunc('milliseconds', clock_timestamp()),
    ended_reason = 'ended_by_api', plan = null
  where s.workspace_id = ${workspaceId} and s.agent_id = ${agentId} and ${isIn(tx, answeringSession('agent_gone'))}`;

async function deliverEnd(tx: Transaction, record: SessionRecord, { plan, prices }: Ended): Promise<void> {
  const urls = plan?.config.webhooks.post_call.map(({ url }) => url) ?? [];
  if (urls.length === 0) return;
  const report = await reportOf(tx, record, prices);
  const body = (eventId: string): string => endedBody(eventId, record, report);
  await addDeliveries(tx, { record, event: 'call.ended', urls, body });
}

/** False if the session has ended already, or does not have the expected owner (`only`). */
export const endSession = (sql: Sql, id: string, reason: EndedReason, only?: Only): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [row] = await update(tx, id, reason, only);
    if (!row) return false;
    if (row.direction === 'outbound') await tellDialled(tx, id, 'session_ends');
    const record = recordOf(row);
    await deliverEnd(tx, record, row);
    await addFigures(tx, record, row.prices);
    return true;
  }) as Promise<boolean>;
