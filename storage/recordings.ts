/**
 * Rows of recorded sessions: start, machine and bucket; the audio is in files (gateway/agents/recordings/recordings.ts). A call
 * that was taken over is recorded in parts, each by the process that had it. Rows of first parts are in `recordings`;
 * `recording_parts` has these and all others (storage/migrations/0001-schema.sql).
 */
import { repeatable } from './postgres/once-more.js';
import type { Sql } from './postgres/sql.js';

export interface RecordingRow {
  /** From 1 on. */
  readonly part: number;
  readonly host: string;
  readonly startedAt: Date;
  /** Its bucket, `s3://bucket/prefix`; null if it stays on its machine. */
  readonly store: string | null;
  /** Whether all of it is in the bucket. */
  readonly kept: boolean;
  /** Why the upload was given up. */
  readonly failure: string | null;
  /** Milliseconds since the session's end, on the database's clock; null while it is running. */
  readonly sinceEndMs: number | null;
}

export interface BegunRecording {
  readonly part: number;
  readonly host: string;
  readonly store: string | null;
  readonly at: Date;
}

/** Records the start of a part; a part that starts again replaces its row. If the session is gone, its files are marked for removal. */
export async function recordingBegan(
  sql: Sql,
  sessionId: string,
  { part, host, store, at }: BegunRecording,
): Promise<void> {
  const [table, key] =
    part === 1 ? [sql`recordings`, sql`(session_id)`] : [sql`recording_parts`, sql`(session_id, part)`];
  await repeatable(sql`
    with session as (select id from sessions where id = ${sessionId} for key share),
    gone as (
      insert into deleted_recordings (session_id, host)
      select ${sessionId}, place from unnest(array[${host}, ${store}]::text[]) place
      where place is not null and not exists (select from session) on conflict do nothing
    )
    insert into ${table} (session_id, part, host, store, started_at)
    select id, ${part}::int, ${host}, ${store}, ${at}::timestamptz from session
    on conflict ${key} do update set host = excluded.host, store = excluded.store,
      started_at = excluded.started_at, kept_at = null, failure = null, claimed_by = null, claimed_until = null`);
}

/** The number of the next part, for a takeover. */
export async function nextPart(sql: Sql, sessionId: string): Promise<number> {
  const [row] = await sql<[{ part: number }]>`
    select coalesce(max(part), 0) + 1 as part from recording_parts where session_id = ${sessionId}`;
  return row.part;
}

/** The recording's parts in order; none if the session was never recorded. */
export const readRecording = (sql: Sql, sessionId: string): Promise<readonly RecordingRow[]> =>
  sql<RecordingRow[]>`
    select r.part, r.host, r.started_at as "startedAt", r.store, r.failure, r.kept_at is not null as kept,
      (extract(epoch from now() - s.ended_at) * 1000)::float8 as "sinceEndMs"
    from recording_parts r join sessions s on s.id = r.session_id
    where r.session_id = ${sessionId} order by r.part`;

const AT_ONCE = 500;

/**
 * Deletes the rows of some recordings that began before then and whose sessions have ended, with all their parts, on
 * whatever machine their files are. False if none was left.
 */
export async function forgetRecordingsBefore(sql: Sql, before: Date): Promise<boolean> {
  const { count } = await sql`
    delete from recording_parts where session_id in (
      select r.session_id from recording_parts r join sessions s on s.id = r.session_id
      where r.started_at < ${before} and s.ended_at is not null
      order by r.started_at limit ${AT_ONCE} for update of r skip locked)`;
  return count > 0;
}

/** Recordings of that machine whose rows are deleted but whose files may still exist. */
export async function deletedRecordings(sql: Sql, host: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select session_id as id from deleted_recordings where host = ${host} order by deleted_at`;
  return rows.map(({ id }) => id);
}

/** Start of a bucket's address, which no machine's name has. */
export const BUCKET = 's3://';

/** Deleted recordings of all other machines, starting after `after`; none if there are no more. */
export async function deletedElsewhere(
  sql: Sql,
  host: string,
  after: string,
): Promise<readonly { readonly id: string; readonly host: string }[]> {
  return sql<{ id: string; host: string }[]>`
    select session_id as id, host from deleted_recordings
    where host <> ${host} and not starts_with(host, ${BUCKET}) and session_id > ${after} and deleted_at < now() - interval '1 minute'
    order by session_id limit ${AT_ONCE}`;
}

/** Records that the files are gone. Waits a minute after the deletion, so that files then being written are removed too. */
export async function deletedFilesRemoved(sql: Sql, host: string, sessionId: string): Promise<void> {
  await repeatable(sql`
    delete from deleted_recordings
    where host = ${host} and session_id = ${sessionId} and deleted_at < now() - interval '1 minute'`);
}

/** Machines and buckets that have files of deleted recordings. */
export async function hostsOfDeleted(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ host: string }[]>`select distinct host from deleted_recordings order by host`;
  return rows.map(({ host }) => host);
}
