/**
 * Transfers of phone calls (contracts/ports/phone/transfers.ts). Every change is one statement, which reads the allowed previous states
 * from the lifecycle, and is announced: the waiting process may be another one than the one that the provider notified.
 */
import type { Ids } from '../../contracts/ids.js';
import { beforeTransferIs, RETURNABLE, type TransferState } from '../../contracts/phone/transfer-states.js';
import type { Transfer } from '../../contracts/phone/transfers.js';
import type { NewTransfer, OverdueTransfer, Transfers } from '../../contracts/ports/phone/transfers.js';
import { ownNumber } from '../sessions/numbers.js';
import type { Database } from '../postgres/database.js';
import type { NotifyListener } from '../postgres/events.js';
import type { Sql, Transaction } from '../postgres/sql.js';

/** Needs the transfers as `t` and their sessions as `s`. `shown`: on calls that we placed, our own number, else the callee would see their own. */
const columns = (sql: Sql | Transaction) => sql`
  t.id, t.session_id as "sessionId", s.workspace_id as "workspaceId", t.number_id as "numberId", t.provider,
  t.caller_call_id as "callerCallId", t.call_id as "callId", t.tool_call_id as "toolCallId", t.mode, t.label,
  t.to_address as "to", case s.direction when 'outbound' then ${ownNumber(sql)} end as shown, t.state, t.reason, t.briefing::jsonb as briefing, t.created_at as "createdAt",
  t.answered_at as "answeredAt", t.ended_at as "endedAt", t.returned_at as "returnedAt"`;

/** Needs the transfers as `t`. */
const isIn = (sql: Sql | Transaction, states: readonly TransferState[]) =>
  sql`t.state = any(${states as TransferState[]}::text[])`;

const AT_ONCE = 50;

export const transfersOf = (sql: Sql | Transaction, sessionId: string): Promise<readonly Transfer[]> => sql<
  Transfer[]
>`
  select ${columns(sql)} from phone_transfers t join sessions s on s.id = t.session_id
  where t.session_id = ${sessionId} order by t.created_at, t.id`;

async function begin(sql: Sql, id: string, wanted: NewTransfer): Promise<Transfer | undefined> {
  const { sessionId, numberId, provider, callerCallId, toolCallId, mode, label, to, briefing, dueMs } =
    wanted;
  const [transfer] = await sql<Transfer[]>`
    with t as (
      insert into phone_transfers (id, session_id, number_id, provider, caller_call_id, tool_call_id, mode, label,
        to_address, briefing, created_at, due_at)
      select ${id}, s.id, ${numberId}, ${provider}, ${callerCallId}, ${toolCallId}, ${mode}, ${label}, ${to},
        ${briefing && JSON.stringify(briefing)}, date_trunc('milliseconds', now()),
        now() + ${dueMs}::int * interval '1 millisecond'
      from sessions s where s.id = ${sessionId} and s.ended_at is null
      on conflict (session_id) where ended_at is null do nothing returning *)
    select ${columns(sql)} from t join sessions s on s.id = t.session_id`;
  return transfer;
}

const report: (sql: Sql, ...of: Parameters<Transfers['report']>) => ReturnType<Transfers['report']> = async (
  sql,
  id,
  { callId = null, state = null },
) => {
  const moves = isIn(sql, state === null ? [] : beforeTransferIs(state));
  const [transfer] = await sql<Transfer[]>`
    update phone_transfers t set call_id = coalesce(t.call_id, ${callId}),
      state = case when ${moves} then ${state}::text else t.state end,
      answered_at = case when ${moves} and ${state}::text = 'answered' then date_trunc('milliseconds', now()) else t.answered_at end
    from sessions s where t.id = ${id} and s.id = t.session_id and t.ended_at is null
      and (${callId}::text is null or t.call_id is null or t.call_id = ${callId})
    returning ${columns(sql)}`;
  return transfer;
};

/** Ends a transfer. A caller without an agent then has as long to come back as one whose node has died. */
const finish: (sql: Sql, ...of: Parameters<Transfers['finish']>) => ReturnType<Transfers['finish']> = async (
  sql,
  id,
  state,
  reason,
) => {
  const [transfer] = await sql<Transfer[]>`
    with t as (
      update phone_transfers t set state = ${state}, reason = ${reason ?? null}, briefing = null,
        ended_at = date_trunc('milliseconds', now()),
        answered_at = coalesce(answered_at, case when ${state} = 'connected' then date_trunc('milliseconds', now()) end)
      where id = ${id} and ${isIn(sql, beforeTransferIs(state))} returning *),
    waiting as (
      update sessions set lost_at = now() from t
      where sessions.id = t.session_id and sessions.lost_at is not null and sessions.ended_at is null)
    select ${columns(sql)} from t join sessions s on s.id = t.session_id`;
  return transfer;
};

async function bringBack(sql: Sql, id: string): Promise<Transfer | undefined> {
  const [transfer] = await sql<Transfer[]>`
    update phone_transfers t set returned_at = date_trunc('milliseconds', now())
    from sessions s where t.id = ${id} and s.id = t.session_id and s.ended_at is null
      and t.mode = 'cold' and ${isIn(sql, RETURNABLE)} and t.returned_at is null
    returning ${columns(sql)}`;
  return transfer;
}

const amend = (sql: Sql, { sessionId, toolCallId }: Transfer, error: string) => sql`
  update session_items set content = (content::jsonb
    || jsonb_build_object('status', 'failed', 'output', '', 'error', ${error}::text))::text
  where session_id = ${sessionId} and type = 'tool_result' and content::jsonb ->> 'callId' = ${toolCallId}`;

async function overdue(sql: Sql): Promise<readonly OverdueTransfer[]> {
  const rows = await sql<(Transfer & Pick<OverdueTransfer, 'sessionEnded'>)[]>`
    select ${columns(sql)}, s.ended_at is not null as "sessionEnded"
    from phone_transfers t join sessions s on s.id = t.session_id
    where t.ended_at is null and (t.due_at <= now() or s.ended_at is not null)
    order by t.due_at limit ${AT_ONCE}`;
  return rows.map(({ sessionEnded, ...transfer }) => ({ transfer, sessionEnded }));
}

/** Waiting callbacks by transfer. */
class Waiting implements NotifyListener {
  readonly #waiting = new Map<string, Set<() => void>>();

  add(id: string, changed: () => void): () => void {
    const set = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, set.add(changed));
    return () => {
      set.delete(changed);
      if (set.size === 0) this.#waiting.delete(id);
    };
  }

  heard(id: string): void {
    for (const changed of this.#waiting.get(id) ?? []) changed();
  }

  missed(): void {
    for (const id of this.#waiting.keys()) this.heard(id);
  }
}

/** `stop` ends its listener. */
export async function createTransfers(
  { sql, events }: Pick<Database, 'sql' | 'events'>,
  ids: Ids,
): Promise<Transfers & { stop(): void }> {
  const waiting = new Waiting();
  const stop = await events.listen('phone_transfers', waiting);
  return {
    begin: (transfer) => begin(sql, ids.next('transfer'), transfer),
    async find(id) {
      const [transfer] = await sql<Transfer[]>`
        select ${columns(sql)} from phone_transfers t join sessions s on s.id = t.session_id where t.id = ${id}`;
      return transfer;
    },
    report: (id, told) => report(sql, id, told),
    finish: (id, state, reason) => finish(sql, id, state, reason),
    bringBack: (id) => bringBack(sql, id),
    amend: async (transfer, error) => void (await amend(sql, transfer, error)),
    overdue: () => overdue(sql),
    onChange: (id, changed) => waiting.add(id, changed),
    stop,
  };
}
