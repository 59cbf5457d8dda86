/**
 * Sessions as the process sees them that holds their conversations (contracts/ports/sessions.ts `SessionRuns`). A
 * session has at most one owner: joining is one statement, which spends the token. The owner says that it lives, and
 * hears of the end of its sessions by NOTIFY, or finds it in the rows where that was lost.
 */
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import type {
  JoinRefusal,
  RunningSession,
  SessionItem,
  SessionPlan,
  SessionRuns,
} from '../../contracts/ports/sessions.js';
import { repeat } from '../../contracts/repeat.js';
import { firstBytes } from '../../contracts/text.js';
import type { Database, Sql } from '../database.js';
import { messageOf } from '../failure.js';
import { endSession } from './endings.js';
import { columns, recordOf, type Row } from './rows.js';
import { endOverdue, removeOld } from './sweep.js';

export interface SessionRunsParts {
  readonly database: Pick<Database, 'sql' | 'events'>;
  /** Unique among all live processes. */
  readonly processId: string;
  /** Where this process takes signalling frames of its sessions from others. */
  readonly address: string;
  readonly clock: Clock;
  readonly log: Log;
}

const SEEN_MS = LIMITS.session.ownerMs / 3;
const SWEEP_MS = 5000;
const CLEAN_MS = 60_000;

const sayThatWeLive = (sql: Sql, processId: string, address: string) => sql`
  insert into session_owners (process_id, address) values (${processId}, ${address})
  on conflict (process_id) do update set seen_at = now()`;

const spend = (sql: Sql, id: string, processId: string) => sql<(Row & { plan: SessionPlan })[]>`
  update sessions s set joined_at = now(), owner_id = ${processId}
  where s.id = ${id} and s.status = 'pending' and s.joined_at is null and s.expires_at > now()
  returning ${columns(sql)}, s.plan`;

async function refusalOf(sql: Sql, id: string): Promise<JoinRefusal> {
  const [row] = await sql<{ refused: JoinRefusal }[]>`
    select case when ended_at is not null and ended_reason <> 'not_joined' then 'ended'
      when joined_at is not null then 'used' else 'expired' end as refused
    from sessions where id = ${id}`;
  return row?.refused ?? 'unknown';
}

async function join(
  sql: Sql,
  id: string,
  processId: string,
): Promise<RunningSession | { refused: JoinRefusal }> {
  const [row] = await spend(sql, id, processId);
  if (!row) return { refused: await refusalOf(sql, id) };
  const { plan, ...rest } = row;
  return { record: recordOf(rest), plan };
}

const cut = (text: string): string => firstBytes(text, LIMITS.session.toolOutputBytes);

function kept(item: SessionItem): SessionItem {
  if (item.type !== 'tool_result') return item;
  const output = cut(item.output);
  const error = item.error === null ? null : cut(item.error);
  return {
    ...item,
    output,
    error,
    outputTruncated: item.outputTruncated || output.length < item.output.length,
  };
}

async function append(sql: Sql, sessionId: string, items: readonly SessionItem[]): Promise<void> {
  const rows = items.map(kept).map(({ type, turnId, createdAt, ...content }) => ({
    session_id: sessionId,
    type,
    turn_id: turnId,
    created_at: createdAt,
    content: JSON.stringify(content),
  }));
  if (rows.length > 0) await sql`insert into session_items ${sql(rows)}`;
}

/** What fails is said and tried again. */
const repeatedly = (
  { clock, log }: SessionRunsParts,
  ms: number,
  what: string,
  work: () => Promise<unknown>,
) => repeat(clock, ms, work, (error) => log.warn({ reason: messageOf(error) }, what));

/** The ids of this process's sessions, and who wants to hear that one has ended. */
function createHoldings(sql: Sql) {
  const held = new Set<string>();
  const listeners = new Set<(id: string) => void>();
  const ended = (id: string): void => {
    if (held.delete(id)) for (const listener of listeners) listener(id);
  };
  return {
    held,
    listeners,
    ended,
    async lookForEnded(): Promise<void> {
      const rows = await sql<{ id: string }[]>`
        select id from sessions where id = any(${[...held]}::text[]) and ended_at is not null`;
      for (const { id } of rows) ended(id);
    },
  };
}

/** The runs of one process. `stop` ends its work; sessions that it still owns fail once it is missed. */
export async function createSessionRuns(
  parts: SessionRunsParts,
): Promise<SessionRuns & { stop(): Promise<void> }> {
  const { database, processId, address, log } = parts;
  const { sql } = database;
  const { held, listeners, ended, lookForEnded } = createHoldings(sql);
  await sayThatWeLive(sql, processId, address);
  const stops = [
    repeatedly(parts, SEEN_MS, 'could not say that this process lives', () =>
      sayThatWeLive(sql, processId, address),
    ),
    repeatedly(parts, SWEEP_MS, 'could not sweep sessions', () => endOverdue(sql)),
    repeatedly(parts, CLEAN_MS, 'could not remove old rows', () => removeOld(sql)),
    await database.events.listen('session_ends', {
      heard: ended,
      missed: () =>
        void lookForEnded().catch((error: unknown) =>
          log.warn({ reason: messageOf(error) }, 'could not look for ended sessions'),
        ),
    }),
  ];

  return {
    async join(id) {
      // Before the statement, so that an end right behind it is not missed.
      const isOurs = held.has(id);
      held.add(id);
      const outcome = await join(sql, id, processId).catch((error: unknown) => {
        if (!isOurs) held.delete(id);
        throw error;
      });
      if ('refused' in outcome && !isOurs) held.delete(id);
      return outcome;
    },
    async hold(id) {
      held.add(id);
      await sql`update sessions set owner_id = ${processId} where id = ${id} and status = 'pending'`;
    },
    async unjoin(id) {
      await sql`
        update sessions set joined_at = null, owner_id = null
        where id = ${id} and owner_id = ${processId} and status = 'pending'`;
      held.delete(id);
    },
    async activate(id) {
      const { count } = await sql`
        update sessions set status = 'active', started_at = date_trunc('milliseconds', now())
        where id = ${id} and owner_id = ${processId} and status = 'pending'`;
      return count === 1;
    },
    append: (id, items) => append(sql, id, items),
    end: (id, reason) => endSession(sql, id, reason),
    async hasEnded(id) {
      const [row] = await sql`select from sessions where id = ${id} and ended_at is not null`;
      return row !== undefined;
    },
    async owner(id) {
      const [row] = await sql<{ address: string }[]>`
        select o.address from sessions s join session_owners o on o.process_id = s.owner_id
        where s.id = ${id} and s.ended_at is null`;
      return row?.address;
    },
    onEnded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      for (const stop of stops) stop();
      await sql`delete from session_owners where process_id = ${processId}`.catch((error: unknown) =>
        log.warn({ reason: messageOf(error) }, 'could not say that this process has ended'),
      );
    },
  };
}
