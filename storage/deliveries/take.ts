/**
 * Gives out deliveries. Those to one address of a workspace, its receiver, stand in a line, and lines are found by an index,
 * however many wait in each. What of a line may go depends on its receiver (`delivery_receivers`, settle.ts):
 *
 * - well: whatever is due;
 * - failing: nothing while it is paused, then one delivery, if any is due: the oldest, so that it is the first to arrive once the
 *   receiver is back, and if that fails the one that is due the longest, so that an event that cannot be taken holds up no other;
 * - back: all that waited for it, in the order in which they were made, a bounded number at once and in a second.
 *
 * What somebody asked to have sent again goes in any case.
 */
import { LIMITS } from '../../contracts/limits.js';
import type { Delivery } from '../../contracts/ports/sessions/deliveries.js';
import type { Sql, Transaction } from '../postgres/sql.js';

const { failing, back, atOnce, spare } = LIMITS.postCallWebhook;
export const AFTER = failing.after;

export interface Taking {
  readonly most: number;
  readonly leaseMs: number;
  /** One each, of lines of which nothing is running. */
  readonly idleOnly?: boolean | undefined;
}

/** The id of an event; rows of earlier releases have none. Needs the deliveries as `d`. */
export const eventIdOf = (sql: Sql | Transaction) =>
  sql`coalesce(d.event_id, 'evt_' || lpad(to_hex(d.id), 24, '0'))`;

/**
 * Whether rows are due that may be free, or receivers are back: what an idle gateway asks each second. Without parameters, so that
 * Postgres plans it once for a connection; to plan the taking takes it a hundred times as long as to run it on an empty outbox.
 */
const isDue = async (sql: Sql): Promise<boolean> =>
  (
    await sql`
      select where exists (
          select from deliveries
          where settled_at is null and due_at <= now() and (taken_until is null or taken_until <= now()))
        or exists (select from delivery_receivers where back_at is not null)`
  ).length > 0;

interface Receiver {
  readonly workspaceId: string;
  readonly address: string;
}

/** Forgets receivers that are back and have taken what had waited for them. */
const forgetCaughtUp = (tx: Transaction) => tx`
  delete from delivery_receivers r where r.back_at is not null and not exists (
    select from deliveries d
    where d.workspace_id = r.workspace_id and hashtextextended(d.url, 0) = r.address and d.settled_at is null
      and coalesce(d.tried_at, d.created_at, r.back_at) < r.back_at)`;

/** Receivers that fail or are back and may be sent something; until the end of the transaction nobody else sends to them. */
const hold = (tx: Transaction) => tx<Receiver[]>`
  select workspace_id as "workspaceId", address::text as address from delivery_receivers
  where (failures >= ${AFTER} or back_at is not null) and (paused_until is null or paused_until <= now())
  for update skip locked`;

/** Needs a delivery as `n` and its line as `l`. */
const inLine = (tx: Transaction) => tx`
  n.workspace_id = l.workspace_id and hashtextextended(n.url, 0) = l.address and n.settled_at is null
  and (n.taken_until is null or n.taken_until <= now())
  and not exists (
    select from deliveries e
    where e.session_id = n.session_id and e.url = n.url and e.id < n.id and e.settled_at is null and e.attempts = 0)`;

/** Every line, found by the index, with what is under way, and what its receiver's state allows. */
const lines = (tx: Transaction, held: readonly Receiver[]) => tx`
  found_lines as (
    (select workspace_id, hashtextextended(url, 0) as address from deliveries where settled_at is null
      order by workspace_id, hashtextextended(url, 0) limit 1)
    union all
    select o.workspace_id, o.address from found_lines f cross join lateral (
      select workspace_id, hashtextextended(url, 0) as address from deliveries
      where settled_at is null and (workspace_id, hashtextextended(url, 0)) > (f.workspace_id, f.address)
      order by workspace_id, hashtextextended(url, 0) limit 1) o
  ), held as (
    select * from unnest(${held.map(({ workspaceId }) => workspaceId)}::text[],
      ${held.map(({ address }) => address)}::text[]::bigint[]) as h (workspace_id, address)
  ), lines as materialized (
    select f.workspace_id, f.address, r.back_at, r.head_tried, w.of_workspace, w.of_line,
      case when h.address is not null and r.failures >= ${AFTER} then 'failing' when h.address is not null then 'back'
        when r.failures >= ${AFTER} or r.back_at is not null then 'paused' else 'well' end as state,
      least(
        ${back.atOnce} - w.of_line, 1 + r.taken / ${back.growsAfter} - w.of_line,
        floor(${back.perSecond} * (1 - greatest(0, extract(epoch from r.next_at - now())))))::int as room
    from found_lines f
    left join delivery_receivers r on r.workspace_id = f.workspace_id and r.address = f.address
    left join held h on h.workspace_id = f.workspace_id and h.address = f.address
    cross join lateral (
      select count(*) as of_workspace, count(*) filter (where hashtextextended(url, 0) = f.address) as of_line
      from deliveries where workspace_id = f.workspace_id and settled_at is null and taken_until > now()) w
  )`;

/** What of each line may go: at most `most`, by arms of which one fits its state, and what was asked for. */
const mayGo = (tx: Transaction, most: number) => tx`
  found as materialized (
    select l.workspace_id, l.address, l.of_workspace, l.of_line, n.id
    from lines l cross join lateral (
      (select n.id from deliveries n
        where l.state = 'well' and ${inLine(tx)} and n.due_at <= now() order by n.due_at limit ${most})
      union
      (select n.id from deliveries n
        where l.state = 'back' and ${inLine(tx)}
          and (coalesce(n.tried_at, n.created_at, l.back_at) < l.back_at or n.due_at <= now())
        order by n.id limit greatest(0, least(l.room, ${most}::int)))
      union
      (select n.id from deliveries n
        where l.state = 'failing' and l.of_line = 0 and not l.head_tried and ${inLine(tx)} and exists (
          select from deliveries o
          where o.workspace_id = l.workspace_id and hashtextextended(o.url, 0) = l.address and o.settled_at is null
            and o.due_at <= now())
        order by n.id limit 1)
      union
      (select n.id from deliveries n
        where l.state = 'failing' and l.of_line = 0 and l.head_tried and ${inLine(tx)} and n.due_at <= now()
        order by n.due_at limit 1)
      union
      (select n.id from deliveries n
        where ${inLine(tx)} and n.redelivered_at is not null and n.redelivery_id is null and n.due_at <= now()
        order by n.redelivered_at limit ${most})
    ) n
  )`;

/**
 * Workspaces take turns: the next row is one of the workspace with the fewest running deliveries, and of its line with the fewest,
 * those of this statement counted. The last places of a workspace are for lines of which nothing is running. Each step is materialised: joined by a planner without statistics, they were made once a row.
 */
const takeNext = (
  tx: Transaction,
  held: readonly Receiver[],
  { most, leaseMs, idleOnly = false }: Taking,
) => tx<Delivery[]>`
  with recursive ${lines(tx, held)}, ${mayGo(tx, most)},
  turns as materialized (
    select id, turn_in_line, of_workspace + row_number() over (partition by workspace_id order by turn_in_line, id) as turn from (
      select *, of_line + row_number() over (partition by workspace_id, address order by id) as turn_in_line from found) f
  ), taken as (
    update deliveries d set taken_until = now() + ${leaseMs}::int * interval '1 millisecond'
    where d.id in (
      select f.id from turns t join deliveries f on f.id = t.id
      where t.turn <= ${atOnce} and (t.turn_in_line = 1 or (t.turn <= ${atOnce - spare} and not ${idleOnly}::boolean))
        and f.settled_at is null and (f.taken_until is null or f.taken_until <= now())
      order by t.turn, f.id limit ${most} for update of f skip locked
    )
    returning d.*
  ), rated as (
    update delivery_receivers r
    set next_at = greatest(r.next_at, now()) + t.count * interval '1 second' / ${back.perSecond}::int
    from (select workspace_id, hashtextextended(url, 0) as address, count(*) from taken group by 1, 2) t
    where r.workspace_id = t.workspace_id and r.address = t.address and r.back_at is not null
  )
  select d.id::text as id, d.workspace_id as "workspaceId", d.session_id as "sessionId", d.agent_id as "agentId", d.event,
    ${eventIdOf(tx)} as "eventId", d.url, d.body, d.attempts, d.steps, d.due_at > now() as early,
    d.redelivered_at is not null as redelivery,
    not exists (
      select from sessions s
      join agent_versions v on v.agent_id = s.agent_id and v.number = s.version_number,
      jsonb_array_elements(v.config->'webhooks'->'post_call') hook
      where s.id = d.session_id and hook->>'url' = d.url and hook->'has_secret' = 'false') as signed
  from taken d order by d.id`;

/** In the order in which they were made. */
export async function take(sql: Sql, taking: Taking): Promise<readonly Delivery[]> {
  if (!(await isDue(sql))) return [];
  return (await sql.begin(async (tx) => {
    await forgetCaughtUp(tx);
    return takeNext(tx, await hold(tx), taking);
  })) as readonly Delivery[];
}
