/**
 * The outbox of post-call events (contracts/ports/deliveries.ts). SKIP LOCKED gives each row to one process at a time;
 * a process that dies with one loses it when its lease ends. Of one session and address the earlier event is settled
 * before the later one is given out.
 */
import type { Delivery, DeliveryEvent, DeliveryQueue } from '../contracts/ports/deliveries.js';
import type { SessionRecord } from '../contracts/ports/sessions.js';
import type { Database } from './database.js';
import { repeatable } from './once-more.js';
import type { Sql, Transaction } from './sql.js';

export interface NewDeliveries {
  readonly record: SessionRecord;
  readonly event: DeliveryEvent;
  readonly urls: readonly string[];
  readonly body: string;
}

/** Writes one delivery an address, in the transaction of the change that they report. */
export async function addDeliveries(
  tx: Transaction,
  { record, event, urls, body }: NewDeliveries,
): Promise<void> {
  await tx`
    insert into deliveries (workspace_id, session_id, agent_id, event, url, body)
    select ${record.workspaceId}, ${record.id}, ${record.agentId}, ${event}, url, ${body}
    from unnest(${urls as string[]}::text[]) as u (url)`;
}

/** Under way of one workspace, in all processes: its slow endpoints do not hold up the others'. */
const MOST_A_WORKSPACE = 16;

const take = (sql: Sql, most: number, leaseMs: number) => sql<Delivery[]>`
  update deliveries d set taken_until = now() + ${leaseMs}::int * interval '1 millisecond'
  where d.id in (
    select n.id from deliveries n
    where n.settled_at is null and n.due_at <= now() and (n.taken_until is null or n.taken_until <= now())
      and not exists (
        select 1 from deliveries e
        where e.session_id = n.session_id and e.url = n.url and e.id < n.id and e.settled_at is null)
      and ${MOST_A_WORKSPACE} > (
        select count(*) from deliveries w
        where w.workspace_id = n.workspace_id and w.settled_at is null and w.taken_until > now())
    order by n.due_at limit ${most} for update skip locked
  )
  returning d.id::text as id, d.agent_id as "agentId", d.event, d.url, d.body, d.attempts`;

export const createDeliveryQueue = ({ sql, events }: Pick<Database, 'sql' | 'events'>): DeliveryQueue => ({
  take: (most, leaseMs) => take(sql, most, leaseMs),
  async settle(id, outcome, note) {
    if (outcome.kind === 'again') {
      await sql`
        update deliveries set attempts = attempts + 1, taken_until = null, note = ${note},
          due_at = now() + ${outcome.afterMs}::int * interval '1 millisecond'
        where id = ${id} and settled_at is null`;
      return;
    }
    await repeatable(sql`
      update deliveries set attempts = attempts + 1, taken_until = null, note = ${note}, outcome = ${outcome.kind},
        settled_at = now()
      where id = ${id} and settled_at is null`);
  },
  onDue: (listener) => events.listen('deliveries', { heard: listener, missed: listener }),
});
