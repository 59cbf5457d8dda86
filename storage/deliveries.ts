/**
 * The outbox of post-call events (contracts/ports/sessions/deliveries.ts). SKIP LOCKED gives each row to one process at a time;
 * if that process dies, the row is free again when its lease ends. Events of one session to one address go out in order:
 * the earlier one is settled before the later one is given out.
 */
import { LIMITS } from '../contracts/limits.js';
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

/**
 * Whether rows are due that may be free: what an idle gateway asks each second. Without parameters, so that Postgres plans it once for
 * a connection; to plan `take` takes it a hundred times as long as to run it on an empty outbox.
 */
const isDue = async (sql: Sql): Promise<boolean> =>
  (
    await sql`
      select from deliveries
      where settled_at is null and due_at <= now() and (taken_until is null or taken_until <= now()) limit 1`
  ).length > 0;

/**
 * Workspaces take turns: the next row is one of the workspace with the fewest running deliveries, those of this statement
 * counted. Each workspace is found, and its due rows, by an index, however many rows another one has.
 */
const take = (sql: Sql, most: number, leaseMs: number) => sql<Delivery[]>`
  with recursive tenants as (
    (select workspace_id from deliveries where settled_at is null order by workspace_id limit 1)
    union all
    select o.workspace_id from tenants t cross join lateral (
      select workspace_id from deliveries
      where settled_at is null and workspace_id > t.workspace_id order by workspace_id limit 1) o
  ), due as (
    select n.id, n.due_at, r.running + row_number() over (partition by t.workspace_id order by n.due_at) as turn
    from tenants t
    cross join lateral (
      select count(*) as running from deliveries w
      where w.workspace_id = t.workspace_id and w.settled_at is null and w.taken_until > now()) r
    cross join lateral (
      select id, due_at from deliveries n
      where n.workspace_id = t.workspace_id and n.settled_at is null and n.due_at <= now()
        and (n.taken_until is null or n.taken_until <= now())
        and not exists (
          select 1 from deliveries e
          where e.session_id = n.session_id and e.url = n.url and e.id < n.id and e.settled_at is null)
      order by n.due_at limit ${most}) n
  )
  update deliveries d set taken_until = now() + ${leaseMs}::int * interval '1 millisecond'
  where d.id in (
    select f.id from due join deliveries f on f.id = due.id
    where due.turn <= ${LIMITS.postCallWebhook.atOnce}
      and f.settled_at is null and (f.taken_until is null or f.taken_until <= now())
    order by due.turn, due.due_at limit ${most} for update of f skip locked
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
