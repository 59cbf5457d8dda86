/**
 * Whether a workspace may place calls, and how many, if the installation bounds that (`PHONE_CALLS_PER_DAY`, `PHONE_CALLS_AT_ONCE`): counted in
 * rows, so that all nodes count the same.
 */
import { ServiceError } from '../../contracts/errors.js';
import type { Sql, Transaction } from '../postgres/sql.js';

export interface CallingLimits {
  /** Attempts a day, refused ones too; null: any number. */
  readonly perDay: number | null;
  /** Calls at once, ringing ones too; null: any number. */
  readonly atOnce: number | null;
}

export const UNLIMITED: CallingLimits = { perDay: null, atOnce: null };

/** `Retry-After` in seconds: a call may have ended then. */
const RETRY_SECONDS = 5;

const MOST_COUNTED = 1_000_000_000;

/** Errors: `forbidden` with the reason `outbound_disabled`. */
export async function checkOutbound(sql: Sql, workspaceId: string): Promise<void> {
  const [row] = await sql`select from workspaces where id = ${workspaceId} and outbound_disabled`;
  if (!row) return;
  throw new ServiceError('forbidden', {
    message: 'Placing calls is turned off for this workspace',
    reason: 'outbound_disabled',
  });
}

/** Counts an attempt to place a call. Errors: `rate_limited` with the reason `daily_limit_exceeded`. */
export async function countAttempt(sql: Sql, { perDay }: CallingLimits, workspaceId: string): Promise<void> {
  if (perDay === null) return;
  const [row] = await sql<{ attempts: number; left: number }[]>`
    insert into placed_call_attempts as a (workspace_id, day, attempts)
    values (${workspaceId}, (now() at time zone 'UTC')::date, 1)
    on conflict (workspace_id) do update set day = excluded.day,
      attempts = case when a.day = excluded.day then least(a.attempts, ${MOST_COUNTED}::int) + 1 else 1 end
    returning attempts,
      ceil(extract(epoch from (day + 1)::timestamp at time zone 'UTC' - now()))::int as left`;
  if (!row || row.attempts <= perDay) return;
  throw new ServiceError('rate_limited', {
    message: `The workspace has tried to place ${perDay} calls today, as many as it may (UTC)`,
    reason: 'daily_limit_exceeded',
    retryAfter: row.left,
  });
}

/**
 * Runs `place` if the workspace may have another placed call, while nobody else can place one for it. Errors: `rate_limited` with the
 * reason `concurrency_limit_exceeded`.
 */
export async function withCallLeft<T>(
  sql: Sql,
  { atOnce }: CallingLimits,
  workspaceId: string,
  place: (sql: Sql | Transaction) => Promise<T>,
): Promise<T> {
  if (atOnce === null) return place(sql);
  return (await sql.begin(async (tx) => {
    await tx`select from workspaces where id = ${workspaceId} for no key update`;
    const [row] = await tx<{ calls: number }[]>`
      select count(*)::int as calls from placed_calls c
      where c.workspace_id = ${workspaceId} and c.ended_at is null`;
    if ((row?.calls ?? 0) < atOnce) return place(tx);
    throw new ServiceError('rate_limited', {
      message: `The workspace has ${atOnce} placed calls at once already, as many as it may`,
      reason: 'concurrency_limit_exceeded',
      retryAfter: RETRY_SECONDS,
    });
  })) as T;
}
