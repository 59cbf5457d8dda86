/**
 * The outbox of post-call events (contracts/ports/sessions/deliveries.ts). SKIP LOCKED gives each row to one process at a time;
 * if that process dies, the row is free again when its lease ends. Events of one session to one address go out in order:
 * the earlier one is settled before the later one is given out.
 */
import type {
  Delivery,
  DeliveryEvent,
  DeliveryOutcome,
  DeliveryQueue,
  WebhookAnswer,
} from '../contracts/ports/sessions/deliveries.js';
import type { SessionRecord } from '../contracts/ports/sessions/sessions.js';
import type { Database } from './postgres/database.js';
import { repeatable } from './postgres/once-more.js';
import type { Sql, Transaction } from './postgres/sql.js';

export interface NewDeliveries {
  readonly record: Pick<SessionRecord, 'id' | 'workspaceId' | 'agentId'>;
  readonly event: DeliveryEvent;
  readonly urls: readonly string[];
  readonly body: string;
}

/** Writes one delivery per address, in the transaction of the change that they report. */
export async function addDeliveries(
  tx: Transaction,
  { record, event, urls, body }: NewDeliveries,
): Promise<void> {
  await tx`
    insert into deliveries (workspace_id, session_id, agent_id, event, url, body)
    select ${record.workspaceId}, ${record.id}, ${record.agentId}, ${event}, url, ${body}
    from unnest(${urls as string[]}::text[]) as u (url)`;
}

/** Most running deliveries of one workspace, in all processes: its slow endpoints must not delay those of others. */
const MOST_A_WORKSPACE = 16;

/**
 * Whether rows are due that may be free: what an idle gateway asks each second. Without parameters, so that Postgres plans it once for
 * a connection; to plan `take` takes it a hundred times as long as to run it on an empty outbox.
 */
const isDue = async (sql: Sql): Promise<boolean> =>
  (await sql`select from deliveries where settled_at is null and due_at <= now() limit 1`).length > 0;

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
  returning d.id::text as id, d.agent_id as "agentId", d.event, d.url, d.body, d.attempts,
    d.redelivered_at is not null as redelivery,
    not exists (
      select from sessions s
      join agent_versions v on v.agent_id = s.agent_id and v.number = s.version_number,
      jsonb_array_elements(v.config->'webhooks'->'post_call') hook
      where s.id = d.session_id and hook->>'url' = d.url and hook->'has_secret' = 'false') as signed`;

/** Records the attempt, and when the next one is due or that it was the last; nothing if the delivery is settled already. */
function keepAttempt(sql: Sql, id: string, outcome: DeliveryOutcome, answer: WebhookAnswer) {
  const { durationMs, statusCode, error } = answer;
  const final = outcome.kind === 'again' ? null : outcome.kind;
  const afterMs = outcome.kind === 'again' ? outcome.afterMs : 0;
  return sql`
    with tried as (
      update deliveries set attempts = attempts + 1, taken_until = null, note = ${error ?? String(statusCode)},
        due_at = now() + ${afterMs}::int * interval '1 millisecond', outcome = ${final}::text,
        settled_at = case when ${final}::text is null then null else now() end
      where id = ${id} and settled_at is null
      returning id, attempts, redelivered_at is not null as redelivery
    )
    insert into delivery_attempts (delivery_id, number, started_at, duration_ms, status_code, error, redelivery)
    select id, attempts, now() - ${durationMs}::int * interval '1 millisecond', ${durationMs}::int, ${statusCode}::int,
      ${error}, redelivery
    from tried`;
}

export const createDeliveryQueue = ({ sql, events }: Pick<Database, 'sql' | 'events'>): DeliveryQueue => ({
  take: async (most, leaseMs) => ((await isDue(sql)) ? take(sql, most, leaseMs) : []),
  async settle(id, outcome, answer) {
    const keeping = keepAttempt(sql, id, outcome, answer);
    await (outcome.kind === 'again' ? keeping : repeatable(keeping));
  },
  onDue: (listener) => events.listen('deliveries', { heard: listener, missed: listener }),
});
