/** Deliveries as their workspace sees them, with their attempts, and redelivery (contracts/ports/sessions/deliveries.ts). */
import { ServiceError } from '../contracts/errors.js';
import { LIMITS } from '../contracts/limits.js';
import type {
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryFilter,
  DeliveryRecord,
  DeliveryRecords,
} from '../contracts/ports/sessions/deliveries.js';
import type { Listed, PageRequest } from '../contracts/ports/page.js';
import { answeringDelivery } from '../contracts/sessions/delivery-states.js';
import { addRedelivery, readRedelivery } from './deliveries/redeliveries.js';
import { isIn } from './deliveries/states.js';
import { eventIdOf } from './deliveries/take.js';
import { listed, positionAfter, wantedRows } from './page.js';
import type { Sql, Transaction } from './postgres/sql.js';

const { perDelivery, perMinute } = LIMITS.postCallWebhook.redeliveries;

interface Row extends Omit<DeliveryRecord, 'attempts'> {
  readonly attempts: readonly (Omit<DeliveryAttempt, 'startedAt'> & { readonly startedAt: string })[];
}

/** Needs the deliveries as `d`. */
const columns = (sql: Sql | Transaction) => sql`
  d.id::text as id, ${eventIdOf(sql)} as "eventId", d.session_id as "sessionId", d.agent_id as "agentId", d.event, d.url,
  coalesce(d.outcome, 'waiting') as status, d.created_at as "createdAt",
  case when d.settled_at is null then d.due_at end as "dueAt", d.settled_at as "settledAt",
  coalesce((
    select json_agg(json_build_object(
      'number', a.number, 'startedAt', a.started_at, 'durationMs', a.duration_ms, 'statusCode', a.status_code,
      'error', a.error, 'redelivery', a.redelivery) order by a.number)
    from delivery_attempts a where a.delivery_id = d.id), '[]') as attempts`;

const recordOf = <Found extends Row>(row: Found) => ({
  ...row,
  attempts: row.attempts.map((attempt) => ({ ...attempt, startedAt: new Date(attempt.startedAt) })),
});

function conditions(
  sql: Sql,
  workspaceId: string,
  { agentId, sessionId, url, status, createdAfter, createdBefore }: DeliveryFilter,
) {
  return sql`
    d.workspace_id = ${workspaceId}
    ${agentId === undefined ? sql`` : sql`and d.agent_id = ${agentId}`}
    ${sessionId === undefined ? sql`` : sql`and d.session_id = ${sessionId}`}
    ${url === undefined ? sql`` : sql`and d.url = ${url}`}
    ${createdAfter === undefined ? sql`` : sql`and d.created_at >= ${createdAfter}`}
    ${createdBefore === undefined ? sql`` : sql`and d.created_at <= ${createdBefore}`}
    ${status === undefined ? sql`` : sql`and ${isIn(sql, [status])}`}`;
}

async function list(
  sql: Sql,
  workspaceId: string,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<Listed<DeliveryRecord>> {
  const where = conditions(sql, workspaceId, filter);
  const rows = await sql<(Row & { readonly position: string })[]>`
    select ${columns(sql)}, d.id::text as position from deliveries d
    where ${where} and d.id < ${positionAfter(page)}
    order by d.id desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total
    ? await sql<{ total: number }[]>`select count(*)::int as total from deliveries d where ${where}`
    : [];
  return listed(rows, page, counted?.total ?? null, ({ position: _, ...row }) => recordOf(row));
}

async function read(sql: Sql, id: string, workspaceId: string): Promise<DeliveryDetail | undefined> {
  const [row] = await sql<(Row & { readonly body: string })[]>`
    select ${columns(sql)}, d.body from deliveries d where d.id = ${id} and d.workspace_id = ${workspaceId}`;
  return row && recordOf(row);
}

/** Locks the workspace, so that simultaneous redeliveries are counted one after the other. Errors: `rate_limited`. */
async function checkRate(tx: Transaction, workspaceId: string): Promise<void> {
  await tx`select from workspaces where id = ${workspaceId} for no key update`;
  const [row] = await tx<{ count: number; seconds: number }[]>`
    select count(*)::int as count,
      ceil(extract(epoch from min(redelivered_at) + interval '1 minute' - now()))::int as seconds
    from deliveries
    where workspace_id = ${workspaceId} and redelivered_at > now() - interval '1 minute' and redelivery_id is null`;
  if (row && row.count >= perMinute)
    throw new ServiceError('rate_limited', { retryAfter: Math.max(1, row.seconds) });
}

interface State {
  readonly waits: boolean;
  readonly redeliveries: number;
  readonly orphaned: boolean;
}

const REFUSALS: readonly (readonly [when: (state: State) => boolean, message: string])[] = [
  [({ waits }) => waits, 'Delivery waits for its next attempt'],
  [({ redeliveries }) => redeliveries >= perDelivery, `Delivery was sent again ${perDelivery} times already`],
  // The agent's secret was deleted with it, and nothing is sent unsigned.
  [({ orphaned }) => orphaned, 'The agent of this delivery was deleted'],
];

const redeliver = (sql: Sql, id: string, workspaceId: string): Promise<DeliveryRecord | undefined> =>
  sql.begin(async (tx) => {
    await checkRate(tx, workspaceId);
    const [state] = await tx<State[]>`
      select ${isIn(tx, answeringDelivery('redelivered'))} is not true as waits,
        (select count(*)::int from delivery_attempts a where a.delivery_id = d.id and a.redelivery) as redeliveries,
        not exists (select from agents a where a.id = d.agent_id) as orphaned
      from deliveries d where d.id = ${id} and d.workspace_id = ${workspaceId} for update`;
    if (!state) return undefined;
    const [, message] = REFUSALS.find(([when]) => when(state)) ?? [];
    if (message !== undefined) throw new ServiceError('conflict', { message });
    const [row] = await tx<Row[]>`
      update deliveries d set outcome = null, settled_at = null, due_at = now(), redelivered_at = now(), redelivery_id = null
      where d.id = ${id} returning ${columns(tx)}`;
    await tx`notify deliveries`;
    return row && recordOf(row);
  }) as Promise<DeliveryRecord | undefined>;

export const createDeliveryRecords = (sql: Sql): DeliveryRecords => ({
  list: (workspaceId, filter, page) => list(sql, workspaceId, filter, page),
  read: (id, workspaceId) => read(sql, id, workspaceId),
  redeliver: (id, workspaceId) => redeliver(sql, id, workspaceId),
  redeliverAll: (workspaceId, filter) => addRedelivery(sql, workspaceId, filter),
  redelivery: (id, workspaceId) => readRedelivery(sql, id, workspaceId),
});
