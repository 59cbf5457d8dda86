/**
 * Placed calls (contracts/ports/phone/placed-calls.ts). Every change is one statement, which reads the allowed previous states from the
 * lifecycle, so that late, repeated or reordered reports change nothing; the end is written together with its delivery.
 */
import { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import { placedCallEnded } from '../../contracts/phone/placed-call.js';
import {
  beforeCallIs,
  type CallState,
  endByMachine,
  isLastCallState,
  type LastCallState,
} from '../../contracts/phone/placed-states.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import type {
  Idempotency,
  NewPlacedCall,
  OverdueCall,
  PlacedCall,
  PlacedCalls,
} from '../../contracts/ports/phone/placed-calls.js';
import { addDeliveries } from '../deliveries.js';
import { listed, positionAfter, wantedRows } from '../page.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { tellDialled, tellLate, tellSettled } from './dial-events.js';
import {
  type CallingLimits,
  checkOutbound,
  countAttempt,
  UNLIMITED,
  withCallLeft,
} from './calling-limits.js';

/** Needs the calls as `c`. */
const columns = (sql: Sql | Transaction) => sql`
  c.id, c.workspace_id as "workspaceId", c.number_id as "numberId", c.provider, c.from_address as "from",
  c.to_address as "to", c.agent_id as "agentId", c.session_id as "sessionId", c.state, c.reason,
  c.answered_by as "answeredBy", c.max_ring_seconds as "maxRingSeconds",
  c.voicemail::jsonb as voicemail, c.call_id as "callId",
  c.created_at as "createdAt", c.answered_at as "answeredAt", c.ended_at as "endedAt"`;

/** Needs the calls as `c`. */
const isIn = (sql: Sql | Transaction, states: readonly CallState[]) =>
  sql`c.state = any(${states as CallState[]}::text[])`;

const { apiMs, reportMs } = LIMITS.phone;
/** After this time, an unanswered request to the provider belongs to a process that has died. */
const PLACING_MS = apiMs + 20_000;
const AT_ONCE = 50;

interface Parts {
  readonly sql: Sql;
  /** For lists. Default: `sql`. */
  readonly asked?: Sql;
  readonly ids: Ids;
  /** Default: none. */
  readonly limits?: CallingLimits;
}

const busy = (): ServiceError =>
  new ServiceError('conflict', {
    message: 'A request with this Idempotency-Key is being worked on',
    reason: 'idempotency_key_conflict',
  });

const reused = (): ServiceError =>
  new ServiceError('conflict', {
    message: 'This Idempotency-Key was used for another request',
    reason: 'idempotency_key_reuse',
  });

/** Forgets a key whose time is over: it begins another call then. */
async function forget(sql: Sql, workspaceId: string, { key, keptMs }: Idempotency): Promise<void> {
  if (keptMs === undefined) return;
  await sql`
    update placed_calls set idempotency_key = null, request_digest = null
    where workspace_id = ${workspaceId} and idempotency_key = ${key}
      and created_at <= now() - ${keptMs}::int * interval '1 millisecond'`;
}

async function list(sql: Sql, workspaceId: string, page: PageRequest): Promise<Listed<PlacedCall>> {
  const own = sql`c.workspace_id = ${workspaceId} and c.session_id is not null`;
  const rows = await sql<(PlacedCall & { position: string })[]>`
    select ${columns(sql)}, c.position::text as position from placed_calls c
    where ${own} and c.position < ${positionAfter(page)}
    order by c.position desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total
    ? await sql<{ total: number }[]>`select count(*)::int as total from placed_calls c where ${own}`
    : [];
  return listed(rows, page, counted?.total ?? null, ({ position: _, ...call }) => call);
}

/** Errors: `conflict`. */
async function repeated(
  sql: Sql,
  workspaceId: string,
  idempotency: Idempotency,
): Promise<PlacedCall | undefined> {
  const { key, digest } = idempotency;
  await forget(sql, workspaceId, idempotency);
  const [row] = await sql<(PlacedCall & { digest: string })[]>`
    select ${columns(sql)}, c.request_digest as digest from placed_calls c
    where c.workspace_id = ${workspaceId} and c.idempotency_key = ${key}`;
  if (!row) return undefined;
  if (!row.sessionId) throw busy();
  const { digest: first, ...call } = row;
  if (first !== digest) throw reused();
  return call;
}

async function insert(sql: Sql | Transaction, id: string, wanted: NewPlacedCall) {
  const { number, to, agentId, maxRingSeconds, voicemail, idempotency } = wanted;
  const { workspaceId, id: numberId, provider, address } = number;
  const [call] = await sql<PlacedCall[]>`
    with c as (
      insert into placed_calls (id, workspace_id, number_id, provider, from_address, to_address, agent_id,
        max_ring_seconds, voicemail, idempotency_key, request_digest, created_at, due_at)
      values (${id}, ${workspaceId}, ${numberId}, ${provider}, ${address}, ${to}, ${agentId},
        ${maxRingSeconds}, ${voicemail && JSON.stringify(voicemail)}, ${idempotency?.key ?? null}, ${idempotency?.digest ?? null},
        date_trunc('milliseconds', now()), now() + ${PLACING_MS}::int * interval '1 millisecond')
      on conflict (workspace_id, idempotency_key) do nothing returning *)
    select ${columns(sql)} from c`;
  return call;
}

async function claim({ sql, ids, limits = UNLIMITED }: Parts, wanted: NewPlacedCall) {
  const { number, idempotency } = wanted;
  const { workspaceId } = number;
  const place = (tx: Sql | Transaction) => insert(tx, ids.next('call'), wanted);
  const call = await withCallLeft(sql, limits, workspaceId, place);
  if (call) return { call, known: false };
  if (!idempotency) throw new Error('a call was not noted');
  const earlier = await repeated(sql, workspaceId, idempotency);
  if (!earlier) throw busy();
  return { call: earlier, known: true };
}

const begin: (sql: Sql, ...of: Parameters<PlacedCalls['begin']>) => Promise<PlacedCall> = async (
  sql,
  id,
  sessionId,
  webhooks,
  voicemail,
) => {
  const [call] = await sql<PlacedCall[]>`
    update placed_calls c set session_id = ${sessionId}, webhooks = ${webhooks as string[]},
      voicemail = ${voicemail && JSON.stringify(voicemail)},
      due_at = now() + ${PLACING_MS}::int * interval '1 millisecond'
    where c.id = ${id} returning ${columns(sql)}`;
  if (!call) throw new ServiceError('conflict', { message: 'The call took too long to be made' });
  return call;
};

const keepText = (sql: Sql, id: string, text: string) => sql`
  update placed_calls set voicemail = (voicemail::jsonb || jsonb_build_object('text', ${text}::text))::text where id = ${id}`;

/** Records the provider's answer; due when the longest ringing has passed, plus some time for the provider's report of the end. */
const placed = async (sql: Sql, id: string, callId: string | undefined) =>
  (
    await sql<PlacedCall[]>`
      update placed_calls c set placed_at = coalesce(placed_at, now()), call_id = coalesce(call_id, ${callId ?? null}),
        due_at = case when c.state = 'answered' then due_at
          else now() + c.max_ring_seconds * interval '1 second' + ${reportMs}::int * interval '1 millisecond' end
      where c.id = ${id} returning ${columns(sql)}`
  )[0];

const report: (
  sql: Sql,
  ...of: Parameters<PlacedCalls['report']>
) => ReturnType<PlacedCalls['report']> = async (sql, id, { callId, state, answeredBy }) => {
  // An end is written by `finish`.
  const moves = isIn(sql, state === undefined || isLastCallState(state) ? [] : beforeCallIs(state));
  const [call] = await sql<PlacedCall[]>`
    update placed_calls c set call_id = ${callId}, placed_at = coalesce(placed_at, now()),
      answered_by = case when c.ended_at is null then coalesce(${answeredBy ?? null}, c.answered_by) else c.answered_by end,
      state = case when ${moves} then ${state ?? null}::text else c.state end,
      answered_at = case when ${moves} and ${state === 'answered'} then date_trunc('milliseconds', now()) else c.answered_at end,
      due_at = case when ${moves} and ${state === 'answered'} then 'infinity' else c.due_at end
    where c.id = ${id} and (c.call_id is null or c.call_id = ${callId}) returning ${columns(sql)}`;
  const settles = state === 'answered' || answeredBy !== undefined;
  if (settles && call && call.sessionId !== null) await tellSettled(sql, call.sessionId);
  return call;
};

const finish = (sql: Sql, id: string, state: LastCallState, reason?: string) =>
  sql.begin(async (tx) => {
    const [row] = await tx<(PlacedCall & { webhooks: string[] })[]>`
      update placed_calls c set ended_at = date_trunc('milliseconds', now()), reason = ${reason ?? null},
        state = case when c.answered_by = 'machine' then ${endByMachine(state)} else ${state} end
      where c.id = ${id} and ${isIn(tx, beforeCallIs(state))} returning ${columns(tx)}, c.webhooks`;
    if (!row) return undefined;
    const { webhooks: urls, ...call } = row;
    const { sessionId, workspaceId, agentId } = call;
    if (sessionId !== null) await tellDialled(tx, sessionId, 'over');
    if (sessionId === null || urls.length === 0) return call;
    const record = { id: sessionId, workspaceId, agentId };
    const body = (eventId: string): string => placedCallEnded(eventId, { ...call, sessionId });
    await addDeliveries(tx, { record, event: 'phone_call.ended', urls, body });
    return call;
  }) as Promise<PlacedCall | undefined>;

/** Calls that should have ended: providers get some time to report the end of an answered call after its session's; SIP calls end with it. */
async function overdue(sql: Sql): Promise<readonly OverdueCall[]> {
  const rows = await sql<(PlacedCall & Omit<OverdueCall, 'call'>)[]>`
    select ${columns(sql)}, c.placed_at is not null as placed, s.ended_at is not null as "sessionEnded"
    from placed_calls c left join sessions s on s.id = c.session_id
    where c.ended_at is null and (c.due_at <= now() or s.ended_at <= now() -
      case when c.state = 'answered' and c.provider <> 'sip' then ${reportMs}::int else 0 end * interval '1 millisecond')
    order by c.due_at limit ${AT_ONCE}`;
  return rows.map(({ placed: isPlaced, sessionEnded, ...call }) => ({
    call,
    placed: isPlaced,
    sessionEnded,
  }));
}

export const createPlacedCalls = (parts: Parts): PlacedCalls => {
  const { sql, asked = sql, limits = UNLIMITED } = parts;
  return {
    list: (workspaceId, page) => list(asked, workspaceId, page),
    async read(id, workspaceId) {
      const [call] = await sql<PlacedCall[]>`
        select ${columns(sql)} from placed_calls c
        where c.id = ${id} and c.workspace_id = ${workspaceId} and c.session_id is not null`;
      return call;
    },
    async find(id) {
      const [call] = await sql<PlacedCall[]>`select ${columns(sql)} from placed_calls c where c.id = ${id}`;
      return call;
    },
    repeated: (workspaceId, idempotency) => repeated(sql, workspaceId, idempotency),
    async attempt(workspaceId) {
      await checkOutbound(sql, workspaceId);
      await countAttempt(sql, limits, workspaceId);
    },
    claim: (call) => claim(parts, call),
    drop: async (id) => void (await sql`delete from placed_calls where id = ${id} and session_id is null`),
    begin: (...of) => begin(sql, ...of),
    keepText: async (id, text) => void (await keepText(sql, id, text)),
    placed: (id, callId) => placed(sql, id, callId),
    report: (id, told) => report(sql, id, told),
    finish: (id, state, reason) => finish(sql, id, state, reason),
    tellLate: async () => void (await tellLate(sql)),
    overdue: () => overdue(sql),
  };
};
