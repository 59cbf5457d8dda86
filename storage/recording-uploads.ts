/**
 * Recordings being uploaded to a bucket: rows that one process at a time claims (gateway/agents/recordings/uploads.ts). A claim
 * expires, so that a process that dies delays nothing for long.
 */
import { repeatable } from './postgres/once-more.js';
import type { Sql } from './postgres/sql.js';

export interface RecordingUpload {
  readonly sessionId: string;
  readonly workspaceId: string;
  /** From 1 on. */
  readonly part: number;
  /** The machine that has its files. */
  readonly host: string;
  /** Distinguishes recordings of one call: a call that starts again is recorded again. */
  readonly startedAt: Date;
  /** Milliseconds since the session's end, on the database's clock; null while it is running. */
  readonly sinceEndMs: number | null;
}

export interface Claimant {
  /** `s3://bucket/prefix`. */
  readonly store: string;
  readonly host: string;
  readonly processId: string;
}

const AT_ONCE = 1000;

/**
 * Claims uploads, or renews claims: unclaimed ones of this machine, and those of ended sessions whose machine has not
 * worked on them for `absentMs`. Oldest first.
 */
export async function claimUploads(
  sql: Sql,
  { store, host, processId }: Claimant,
  { leaseMs, absentMs }: { readonly leaseMs: number; readonly absentMs: number },
): Promise<readonly RecordingUpload[]> {
  const ms = (count: number) => sql`${count}::int * interval '1 millisecond'`;
  const rows = await sql<RecordingUpload[]>`
    with mine as (
      select r.session_id, r.part, s.workspace_id, s.ended_at from recording_parts r join sessions s on s.id = r.session_id
      where r.store = ${store} and r.kept_at is null and r.failure is null and (
        r.claimed_by = ${processId}
        or (r.host = ${host} and coalesce(r.claimed_until, '-infinity') < now())
        or (s.ended_at < now() - ${ms(absentMs)}
          and coalesce(r.claimed_until, r.started_at) < now() - ${ms(absentMs)}))
      order by r.started_at limit ${AT_ONCE} for update of r skip locked)
    update recording_parts r set claimed_by = ${processId}, claimed_until = now() + ${ms(leaseMs)}
    from mine where r.session_id = mine.session_id and r.part = mine.part
    returning r.session_id as "sessionId", mine.workspace_id as "workspaceId", r.part, r.host, r.started_at as "startedAt",
      (extract(epoch from now() - mine.ended_at) * 1000)::float8 as "sinceEndMs"`;
  return [...rows].sort((one, other) => one.startedAt.getTime() - other.startedAt.getTime());
}

/** Releases this process's claims to other processes. */
export async function releaseUploads(sql: Sql, { processId }: Claimant): Promise<void> {
  await repeatable(sql`
    update recording_parts set claimed_by = null, claimed_until = null
    where claimed_by = ${processId} and kept_at is null and failure is null`);
}

/** Records that the upload is complete or (`failure`) was given up. False if another process has claimed it now. */
export async function settleUpload(
  sql: Sql,
  { processId }: Claimant,
  { sessionId, part, startedAt }: RecordingUpload,
  failure: string | null = null,
): Promise<boolean> {
  const { count } = await sql`
    update recording_parts set failure = ${failure},
      kept_at = case when ${failure}::text is null then now() end, claimed_by = null, claimed_until = null
    where session_id = ${sessionId} and part = ${part} and started_at = ${startedAt} and claimed_by = ${processId}`;
  return count > 0;
}

/** The sessions whose files are not needed any more: all parts are in the bucket, or given up. */
export async function settledOf(sql: Sql, sessionIds: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select session_id as id from recording_parts where session_id = any(${sessionIds as string[]}::text[])
    group by session_id having bool_and(store is not null and (kept_at is not null or failure is not null))`;
  return rows.map(({ id }) => id);
}

/** Claims deleted recordings in the bucket for a minute. */
export async function claimDeleted(sql: Sql, store: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    update deleted_recordings set claimed_until = now() + interval '1 minute'
    where host = ${store} and session_id in (
      select session_id from deleted_recordings
      where host = ${store} and coalesce(claimed_until, '-infinity') < now()
      order by deleted_at limit 100 for update skip locked)
    returning session_id as id`;
  return rows.map(({ id }) => id);
}
