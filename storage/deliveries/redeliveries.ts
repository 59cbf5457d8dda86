/**
 * Requests to send many deliveries again. Their rows wait again some at a time, with their receivers treated as ones that are back:
 * what is sent to each is bounded in number and rate (take.ts).
 */
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Redelivery, RedeliveryFilter } from '../../contracts/ports/sessions/deliveries.js';
import { answeringDelivery } from '../../contracts/sessions/delivery-states.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { isIn } from './states.js';

const { perDelivery, atOnce } = LIMITS.postCallWebhook.redeliveries;

interface Row {
  readonly id: string;
  readonly outcome: RedeliveryFilter['status'];
  readonly agentId: string | null;
  readonly sessionId: string | null;
  readonly url: string | null;
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly redelivered: number;
  readonly waiting: number;
}

const columns = (sql: Sql | Transaction) => sql`
  r.id::text as id, r.outcome, r.agent_id as "agentId", r.session_id as "sessionId", r.url,
  r.created_after as "createdAfter", r.created_before as "createdBefore", r.created_at as "createdAt",
  r.finished_at as "finishedAt", r.redelivered,
  (select count(*)::int from deliveries d where d.redelivery_id = r.id and d.settled_at is null) as waiting`;

const redeliveryOf = ({ id, createdAt, finishedAt, redelivered, waiting, ...row }: Row): Redelivery => ({
  id,
  createdAt,
  finishedAt,
  redelivered,
  waiting,
  filter: {
    status: row.outcome,
    ...(row.agentId !== null && { agentId: row.agentId }),
    ...(row.sessionId !== null && { sessionId: row.sessionId }),
    ...(row.url !== null && { url: row.url }),
    ...(row.createdAfter && { createdAfter: row.createdAfter }),
    ...(row.createdBefore && { createdBefore: row.createdBefore }),
  },
});

export async function readRedelivery(
  sql: Sql,
  id: string,
  workspaceId: string,
): Promise<Redelivery | undefined> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from redeliveries r where r.id = ${id} and r.workspace_id = ${workspaceId}`;
  return row && redeliveryOf(row);
}

/** Errors: `conflict` while another one of the workspace is not finished. */
export async function addRedelivery(
  sql: Sql,
  workspaceId: string,
  filter: RedeliveryFilter,
): Promise<Redelivery> {
  const {
    status,
    agentId = null,
    sessionId = null,
    url = null,
    createdAfter = null,
    createdBefore = null,
  } = filter;
  const [row] = await sql<Row[]>`
    with added as (
      insert into redeliveries (workspace_id, outcome, agent_id, session_id, url, created_after, created_before, up_to)
      select ${workspaceId}, ${status}, ${agentId}, ${sessionId}, ${url}, ${createdAfter}::timestamptz,
        ${createdBefore}::timestamptz, coalesce((select max(id) from deliveries where workspace_id = ${workspaceId}), 0)
      on conflict (workspace_id) where finished_at is null do nothing
      returning *)
    select ${columns(sql)} from added r`;
  if (!row)
    throw new ServiceError('conflict', { message: 'Deliveries of this workspace are being sent again' });
  return redeliveryOf(row);
}

interface Open {
  readonly id: string;
  readonly workspaceId: string;
}

/** Which of the workspace's deliveries, as `d`, belong to the request `r`, and come after what it has reached. */
const wanted = (tx: Transaction) => tx`
  d.workspace_id = r.workspace_id and d.id > r.reached and d.id <= r.up_to and d.outcome = r.outcome
  and ${isIn(tx, answeringDelivery('redelivered'))}
  and (r.agent_id is null or d.agent_id = r.agent_id) and (r.session_id is null or d.session_id = r.session_id)
  and (r.url is null or d.url = r.url)
  and (r.created_after is null or d.created_at >= r.created_after)
  and (r.created_before is null or d.created_at <= r.created_before)
  and exists (select from agents a where a.id = d.agent_id)
  and (select count(*) from delivery_attempts a where a.delivery_id = d.id and a.redelivery) < ${perDelivery}`;

const wake = (tx: Transaction, { id }: Open) => tx<{ id: string }[]>`
  with woken as (
    update deliveries set outcome = null, settled_at = null, due_at = now(), redelivered_at = now(), redelivery_id = ${id}
    where id in (
      select d.id from redeliveries r join deliveries d on ${wanted(tx)} where r.id = ${id}
      order by d.id limit ${atOnce} for update of d)
    returning id, workspace_id, hashtextextended(url, 0) as address
  ), noted as (
    insert into delivery_receivers as v (workspace_id, address, back_at)
    select distinct workspace_id, address, now() from woken
    on conflict (workspace_id, address) do update set back_at = coalesce(v.back_at, now()) where v.failures < ${LIMITS.postCallWebhook.failing.after}
  )
  select id::text as id from woken order by id desc`;

/**
 * Makes some deliveries of the oldest request wait again, once those of it that wait have become few; so a request for a million
 * does not stand in front of what happens now. False if there is nothing to do.
 */
export async function redeliverSome(sql: Sql): Promise<boolean> {
  const open = await sql`select from redeliveries where finished_at is null limit 1`;
  return open.length > 0 && (await wakeSome(sql));
}

const wakeSome = (sql: Sql): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [open] = await tx<Open[]>`
      select r.id::text as id, r.workspace_id as "workspaceId" from redeliveries r
      where r.finished_at is null and (
        select count(*) from (
          select from deliveries d where d.redelivery_id = r.id and d.settled_at is null limit ${atOnce}) w) < ${atOnce}
      order by r.id limit 1 for update of r skip locked`;
    if (!open) return false;
    const woken = await wake(tx, open);
    await tx`
      update redeliveries set redelivered = redelivered + ${woken.length}::int, reached = coalesce(${woken[0]?.id ?? null}::bigint, reached),
        finished_at = case when ${woken.length < atOnce} then now() end
      where id = ${open.id}`;
    await tx`notify deliveries`;
    return true;
  }) as Promise<boolean>;
