/**
 * Ends overdue sessions and removes old rows. Sessions are overdue if nobody joined them, if their client never connected,
 * if their process died and no other took over, if a caller has not come back from a transfer, if nobody has written in a chat for long, or if they exceed their longest
 * duration and no process holds them: one that does measures it by its own clock (owned-sessions.ts), since the
 * database's may be set meanwhile. Every process sweeps; a session that two of them end at once ends once.
 */
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import { LIMITS } from '../../contracts/limits.js';
import type { EndedReason } from '../../contracts/ports/sessions/sessions.js';
import type { Sql } from '../postgres/sql.js';
import { removeOldEntries } from '../audit.js';
import { removeOldRuns } from '../agent-tests/runs.js';
import { forgetOldCalls } from '../phone/phone-numbers.js';
import { dropUnusedPlans } from '../plans/plan-contents.js';
import { dropOrphanSecrets } from '../secrets/orphans.js';
import { endSession } from './endings.js';
import { removeOldFigures } from './figures.js';
import { removeExpired } from './removal.js';
import { isLive } from './states.js';

const AT_ONCE = 100;

const { idleMs } = LIMITS.agentChat;
const { connectMs, overtimeMs, returnMs } = CALL_TIMES;

const overdue = (sql: Sql) => sql<{ id: string; reason: EndedReason }[]>`
  select s.id, case
    when s.status = 'pending' then 'not_joined'
    when s.source = 'chat' then 'timeout'
    when s.lost_at is not null and exists (select from phone_transfers t where t.session_id = s.id and t.mode = 'cold'
      and t.returned_at is null) then 'hangup'
    when s.lost_at is not null then 'transport_lost'
    else 'timeout' end as reason
  from sessions s
  where ${isLive(sql)} and case s.status
    when 'pending' then s.expires_at + case when s.joined_at is null then interval '0'
      else ${connectMs}::int * interval '1 millisecond' end <= now()
    else s.source <> 'chat' and (s.lost_at + ${returnMs}::int * interval '1 millisecond' <= now()
        and not exists (select from phone_transfers t where t.session_id = s.id and t.ended_at is null))
      or s.source = 'chat' and s.measured_at + ${idleMs}::int * interval '1 millisecond' <= now()
        and not exists (select from session_owners o where o.process_id = s.owner_id)
      or s.started_at + s.max_duration_seconds * interval '1 second'
        + ${overtimeMs}::int * interval '1 millisecond' <= now()
        and not exists (select from session_owners o where o.process_id = s.owner_id) end
  limit ${AT_ONCE}`;

/**
 * Ends overdue sessions. Returns how many this call ended. Errors: the first one, once all have been tried.
 */
export async function endOverdue(sql: Sql): Promise<number> {
  const ends = (await overdue(sql)).map(
    ({ id, reason }) =>
      () =>
        endSession(sql, id, reason, reason === 'transport_lost' || reason === 'hangup' ? 'lost' : undefined),
  );
  let ended = 0;
  let failure: unknown;
  for (const end of ends) {
    try {
      if (await end()) ended += 1;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure as Error;
  return ended;
}

/** For how many days rows are kept; 0, the default: for ever. */
export interface KeptDays {
  /** After the end of a session. */
  readonly sessionDays?: number;
  /** Figures of calls, and entries of the audit trail. */
  readonly statsDays?: number;
  readonly auditDays?: number;
}

/**
 * Removes old rows: sessions with everything that belongs to them, test runs and records of phone calls `sessionDays` after
 * their end, figures `statsDays` after their hour (0 keeps them), and rows of other tables after fixed times.
 */
export async function removeOld(
  sql: Sql,
  { sessionDays = 0, statsDays = 0, auditDays = 0 }: KeptDays = {},
): Promise<void> {
  if (sessionDays > 0) {
    await removeExpired(sql, sessionDays);
    await removeOldRuns(sql, sessionDays);
    await forgetOldCalls(sql, sessionDays);
  }
  await removeOldFigures(sql, statsDays);
  await removeOldEntries(sql, auditDays);
  await dropUnusedPlans(sql);
  await dropOrphanSecrets(sql);
  await sql`delete from deleted_recordings where deleted_at < now() - interval '90 days'`;
  await sql`delete from public_limits where minute < now() - interval '2 minutes'`;
  await sql`delete from deliveries where settled_at < now() - interval '7 days'`;
  await sql`delete from redeliveries where finished_at < now() - interval '7 days'`;
  await sql`
    delete from delivery_receivers r where (r.paused_until is null or r.paused_until < now() - interval '1 day') and not exists (
      select from deliveries d
      where d.workspace_id = r.workspace_id and hashtextextended(d.url, 0) = r.address and d.settled_at is null)`;
}
