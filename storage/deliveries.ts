/**
 * The outbox of post-call events (contracts/ports/sessions/deliveries.ts). SKIP LOCKED gives each row to one process at a time;
 * if that process dies, the row is free again when its lease ends. First attempts of one session's events at one address are
 * in order: the earlier event was tried before the later one is given out.
 */
import { randomIds } from '../contracts/ids.js';
import type { Backlog, DeliveryEvent, DeliveryQueue } from '../contracts/ports/sessions/deliveries.js';
import type { SessionRecord } from '../contracts/ports/sessions/sessions.js';
import { redeliverSome } from './deliveries/redeliveries.js';
import { giveUp, settle } from './deliveries/settle.js';
import { AFTER, take } from './deliveries/take.js';
import type { Database } from './postgres/database.js';
import type { Sql, Transaction } from './postgres/sql.js';

export interface NewDeliveries {
  readonly record: Pick<SessionRecord, 'id' | 'workspaceId' | 'agentId'>;
  readonly event: DeliveryEvent;
  readonly urls: readonly string[];
  readonly body: (eventId: string) => string;
}

/** Writes one delivery per address, in the transaction of the change that they report. */
export async function addDeliveries(
  tx: Transaction,
  { record, event, urls, body }: NewDeliveries,
): Promise<void> {
  const eventId = randomIds.next('event');
  await tx`
    insert into deliveries (workspace_id, session_id, agent_id, event, event_id, url, body)
    select ${record.workspaceId}, ${record.id}, ${record.agentId}, ${event}, ${eventId}, url, ${body(eventId)}
    from unnest(${urls as string[]}::text[]) as u (url)`;
}

/** Most that are counted: a backlog of any size costs the same. */
const COUNTED = 100_000;

async function backlog(sql: Sql): Promise<Backlog> {
  const [row] = await sql<[Backlog]>`
    select
      (select count(*)::int from (select from deliveries where settled_at is null limit ${COUNTED}) d) as waiting,
      coalesce((
        select extract(epoch from now() - created_at)::float8 from deliveries
        where settled_at is null and created_at is not null order by created_at limit 1), 0) as "oldestSeconds",
      (select count(*)::int from delivery_receivers where failures >= ${AFTER}) as "failingReceivers"`;
  return row;
}

export const createDeliveryQueue = ({ sql, events }: Pick<Database, 'sql' | 'events'>): DeliveryQueue => ({
  take: (most, leaseMs, idleOnly) => take(sql, { most, leaseMs, idleOnly }),
  settle: (delivery, outcome, answer) => settle(sql, delivery, outcome, answer),
  giveUp: () => giveUp(sql),
  redeliver: () => redeliverSome(sql),
  backlog: () => backlog(sql),
  onDue: (listener) => events.listen('deliveries', { heard: listener, missed: listener }),
});
