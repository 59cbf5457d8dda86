/**
 * The end of a session: one statement decides who ends it, and what its end causes (deliveries, the wait for its
 * analysis) is written in the same transaction. The texts that hold the session's variables go with it.
 */
import { LIMITS } from '../../contracts/limits.js';
import { ENDED_REASONS, type EndedReason, type SessionPlan } from '../../contracts/ports/sessions.js';
import { endedBody } from '../../contracts/post-call.js';
import type { Sql, Transaction } from '../sql.js';
import { addDeliveries } from '../deliveries.js';
import { columns, recordOf, type Row } from './rows.js';
import { reportOf } from './turns.js';

interface Ended extends Row {
  readonly plan: Omit<SessionPlan, 'prompt'> | null;
  readonly prices: string | null;
}

/** Whose it must be still: that process's, or nobody's any more, for its end to be this one. Default: anybody's. */
type Only = { readonly ownerId: string } | 'lost' | undefined;

function conditionOf(tx: Transaction, only: Only) {
  if (only === undefined) return tx`true`;
  return only === 'lost' ? tx`s.lost_at is not null` : tx`s.owner_id = ${only.ownerId}`;
}

/** A pending session fails whatever the reason; only conversations are analysed, and no previews. */
const update = (tx: Transaction, id: string, reason: EndedReason, only: Only) => tx<Ended[]>`
  update sessions s set
    status = case when s.status = 'pending' then 'failed' else ${ENDED_REASONS[reason]} end,
    ended_at = date_trunc('milliseconds', clock_timestamp()),
    ended_reason = ${reason},
    analysis_due_at = case when s.status = 'active' and s.source <> 'dashboard'
      then now() + ${LIMITS.session.lastWordsMs}::int * interval '1 millisecond' end,
    plan = case when s.status = 'active' and s.source <> 'dashboard' then s.plan #- '{config,prompt}' #- '{transfers}' end
  where s.id = ${id} and s.ended_at is null and ${conditionOf(tx, only)}
  returning ${columns(tx)}, s.plan, s.prices`;

/**
 * Sessions of an agent that wait to be joined, once it is archived or gone: nobody can join them any more. Its
 * conversations go on to their end. Nothing is delivered of a session that nobody joined.
 */
export const endPendingOf = (tx: Transaction, agentId: string, workspaceId: string) => tx`
  update sessions set status = 'failed', ended_at = date_trunc('milliseconds', clock_timestamp()),
    ended_reason = 'ended_by_api', plan = null
  where workspace_id = ${workspaceId} and agent_id = ${agentId} and status = 'pending' and joined_at is null`;

/** False where it has ended already, or is not (`only`) as it was thought to be. */
export const endSession = (sql: Sql, id: string, reason: EndedReason, only?: Only): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [row] = await update(tx, id, reason, only);
    if (!row) return false;
    const urls = row.plan?.config.webhooks.post_call.map(({ url }) => url) ?? [];
    const record = recordOf(row);
    if (urls.length === 0) return true;
    const body = endedBody(record, await reportOf(tx, record, row.prices));
    await addDeliveries(tx, { record, event: 'call.ended', urls, body });
    return true;
  }) as Promise<boolean>;
