/**
 * Concurrency slots that all processes share (decision 6). A process leases a block of a workspace's slots for
 * 15 s at a time; the block of a killed process is free again when its lease ends. The live leases of a
 * workspace never exceed its limit: every change is made under the workspace's row lock.
 */
import type { SlotLeases } from '../contracts/ports/accounts/identity.js';
import type { Sql, Transaction } from './postgres/sql.js';
import type { Events } from './postgres/events.js';

export const LEASE_MS = 15_000;

export interface LeaseOptions {
  readonly sql: Sql;
  readonly events: Events;
  /** Unique among all live processes. */
  readonly processId: string;
  /** Slots of a workspace without a limit of its own. */
  readonly defaultLimit: number;
  readonly leaseMs?: number;
}

interface Granted {
  readonly held: number;
  readonly limit: number;
  readonly others: number;
}

type Holder = Required<LeaseOptions>;

const grant = (
  tx: Transaction,
  { processId, defaultLimit, leaseMs }: Holder,
  workspaceId: string,
  wanted: number,
) => tx<Granted[]>`
  with others as (
    select coalesce(sum(held), 0)::int as held from slot_leases
    where workspace_id = ${workspaceId} and process_id <> ${processId} and expires_at > clock_timestamp()
  ), share as (
    select coalesce(w.concurrency, ${defaultLimit}) as most, others.held as others,
      greatest(0, least(${wanted}, coalesce(w.concurrency, ${defaultLimit}) - others.held)) as held
    from workspaces w, others where w.id = ${workspaceId}
  ), swept as (
    delete from slot_leases
    where workspace_id = ${workspaceId} and process_id <> ${processId} and expires_at <= clock_timestamp()
  ), dropped as (
    delete from slot_leases using share
    where workspace_id = ${workspaceId} and process_id = ${processId} and share.held = 0
  ), kept as (
    insert into slot_leases (workspace_id, process_id, held, expires_at)
    select ${workspaceId}, ${processId}, held, clock_timestamp() + ${leaseMs}::int * interval '1 millisecond'
    from share where held > 0
    on conflict (workspace_id, process_id) do update set held = excluded.held, expires_at = excluded.expires_at
  )
  select held, most as limit, others from share`;

/** Locks, then grants: under read committed, the second statement sees everything committed before the lock. */
const lockAndGrant = (holder: Holder, workspaceId: string, wanted: number): Promise<Granted[]> =>
  holder.sql.begin(async (tx) => {
    const lock = tx`select 1 from workspaces where id = ${workspaceId} for no key update`;
    const [, rows] = await Promise.all([lock, grant(tx, holder, workspaceId, wanted)]);
    return rows;
  }) as Promise<Granted[]>;

export function createSlotLeases(options: LeaseOptions): SlotLeases {
  const holder = { leaseMs: LEASE_MS, ...options };
  const { sql, events, processId, leaseMs } = holder;
  return {
    leaseMs,
    async hold(workspaceId, wanted) {
      const [granted] = await lockAndGrant(holder, workspaceId, wanted);
      if (!granted) return { held: 0, limit: 0 };
      const { held, limit, others } = granted;
      if (held < Math.min(wanted, limit) && others > 0)
        await sql.notify('slot_shortage', `${processId} ${workspaceId}`);
      return { held, limit };
    },
    onShortage: (listener) =>
      events.listen('slot_shortage', {
        heard(payload) {
          const [process, workspaceId = ''] = payload.split(' ');
          if (process !== processId) listener(workspaceId);
        },
        missed: () => undefined,
      }),
  };
}
