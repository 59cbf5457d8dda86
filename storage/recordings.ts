/** Which sessions are recorded, since when, and on which machine; the audio is in files (gateway/recordings.ts). */
import type { Sql } from './database.js';

export interface RecordingRow {
  readonly host: string;
  readonly startedAt: Date;
  /** Of the session, on the database's clock. */
  readonly sinceEndMs: number | null;
}

/** A call that begins anew is recorded anew. */
export async function recordingBegan(sql: Sql, sessionId: string, host: string, at: Date): Promise<void> {
  await sql`
    insert into recordings (session_id, host, started_at) values (${sessionId}, ${host}, ${at})
    on conflict (session_id) do update set host = excluded.host, started_at = excluded.started_at`;
}

/** Undefined where the session was never recorded. */
export async function readRecording(sql: Sql, sessionId: string): Promise<RecordingRow | undefined> {
  const [row] = await sql<RecordingRow[]>`
    select r.host, r.started_at as "startedAt",
      (extract(epoch from now() - s.ended_at) * 1000)::float8 as "sinceEndMs"
    from recordings r join sessions s on s.id = r.session_id
    where r.session_id = ${sessionId}`;
  return row;
}

const AT_ONCE = 100;

/** The oldest ones of that machine whose sessions have ended, that began before then. */
export async function recordingsBefore(sql: Sql, host: string, before: Date): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select r.session_id as id from recordings r join sessions s on s.id = r.session_id
    where r.host = ${host} and r.started_at < ${before} and s.ended_at is not null
    order by r.started_at limit ${AT_ONCE}`;
  return rows.map(({ id }) => id);
}

/** The session was never recorded, as far as anybody can tell now. */
export async function forgetRecording(sql: Sql, sessionId: string): Promise<void> {
  await sql`delete from recordings where session_id = ${sessionId}`;
}
