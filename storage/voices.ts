/**
 * Cloned voices. Every statement names the workspace, so voices of others do not exist. Reference audio reaches the
 * speech pipeline through a cache bounded in bytes; changes reach every process by NOTIFY, or within ten minutes if
 * that was lost.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../contracts/clock.js';
import { ServiceError, whyOf } from '../contracts/errors.js';
import type { Ids } from '../contracts/ids.js';
import { LIMITS } from '../contracts/limits.js';
import type { Log } from '../contracts/log.js';
import type { ReferenceAudio } from '../contracts/ports/speech/tts.js';
import type {
  ClonedVoices,
  NewVoice,
  StoredVoice,
  VoiceChanges,
  Visibility,
} from '../contracts/ports/speech/voices.js';
import type { Database } from './postgres/database.js';
import { ownedBy } from '../contracts/owner.js';
import type { Sql, Transaction } from './postgres/sql.js';
import { exclusively } from './postgres/migrate.js';
import { repeatable } from './postgres/once-more.js';

const CACHED_BYTES = 128 * 1024 * 1024;
/** Bytes that a cache entry costs besides its audio. */
const ENTRY_BYTES = 1024;
const KEPT_MS = 600_000;
const ID = /^[0-9a-f]{32}$/;

interface Row {
  readonly id: string;
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly visibility: Visibility;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const storedOf = ({ workspaceName, ...row }: Row): StoredVoice => ({
  ...row,
  author: { id: row.workspaceId, name: workspaceName },
});

const columns = (sql: Sql | Transaction) => sql`
  v.id, v.workspace_id as "workspaceId", w.name as "workspaceName", v.title, v.description, v.tags, v.visibility,
  v.created_at as "createdAt", v.updated_at as "updatedAt"`;

async function list(sql: Sql, workspaceId: string): Promise<readonly StoredVoice[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from voices v join workspaces w on w.id = v.workspace_id
    where v.workspace_id = ${workspaceId}
    order by v.created_at desc, v.id limit ${LIMITS.voice.perWorkspace}`;
  return rows.map(storedOf);
}

async function read(
  sql: Sql | Transaction,
  id: string,
  workspaceId: string,
): Promise<StoredVoice | undefined> {
  if (!ID.test(id)) return undefined;
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from voices v join workspaces w on w.id = v.workspace_id
    where v.id = ${id} and v.workspace_id = ${workspaceId}`;
  return row && storedOf(row);
}

async function insert(tx: Transaction, voice: NewVoice & { id: string; workspaceId: string }): Promise<void> {
  const { id, workspaceId, title, description, tags, visibility, references } = voice;
  await tx`
    insert into voices (id, workspace_id, title, description, tags, visibility)
    values (${id}, ${workspaceId}, ${title}, ${description}, ${tags as string[]}, ${visibility})`;
  for (const [position, { audio, text }] of references.entries()) {
    await tx`
      insert into voice_references (voice_id, position, audio, transcript)
      values (${id}, ${position}, ${audio}, ${text})`;
  }
}

/** Creates voices of a workspace one at a time, so that two at once cannot exceed the bound. */
const create = (sql: Sql, voice: NewVoice & { id: string; workspaceId: string }) =>
  exclusively(sql, `voices ${voice.workspaceId}`, async (tx) => {
    const [row] =
      await tx`select count(*)::int as count from voices where workspace_id = ${voice.workspaceId}`;
    if ((row?.['count'] as number) >= LIMITS.voice.perWorkspace) return undefined;
    await insert(tx, voice);
    return read(tx, voice.id, voice.workspaceId);
  });

async function change(sql: Sql, id: string, workspaceId: string, changes: VoiceChanges): Promise<boolean> {
  const { title = null, description = null, tags = null, visibility = null } = changes;
  const { count } = await repeatable(sql`
    update voices set
      title = coalesce(${title}, title),
      description = coalesce(${description}, description),
      tags = coalesce(${tags as string[] | null}::text[], tags),
      visibility = coalesce(${visibility}, visibility),
      updated_at = now()
    where id = ${id} and workspace_id = ${workspaceId}`);
  return count === 1;
}

async function remove(sql: Sql, id: string, workspaceId: string): Promise<boolean> {
  if (!ID.test(id)) return false;
  const { count } = await sql`delete from voices where id = ${id} and workspace_id = ${workspaceId}`;
  return count === 1;
}

/** A voice's audio and its workspace, which is undefined if there is no such voice. */
interface Kept {
  readonly workspaceId: string | undefined;
  readonly references: readonly ReferenceAudio[];
}

const NOBODY: Kept = { workspaceId: undefined, references: [] };

async function audioOf(sql: Sql, id: string): Promise<Kept> {
  const rows = await sql<{ workspaceId: string; audio: Buffer; text: string }[]>`
    select v.workspace_id as "workspaceId", r.audio, r.transcript as text
    from voices v join voice_references r on r.voice_id = v.id
    where v.id = ${id} order by r.position`;
  const [first] = rows;
  if (!first) return NOBODY;
  return {
    workspaceId: first.workspaceId,
    references: rows.map(({ audio, text }) => ({ audio, text })),
  };
}

const bytesOf = ({ references }: Kept): number =>
  references.reduce((sum, { audio }) => sum + audio.length, ENTRY_BYTES);

/** One process's cache of reference audio. Simultaneous look-ups of a voice share one query. */
function createCache(load: (id: string) => Promise<Kept>, clock: Clock) {
  const kept = new LRUCache<string, Kept>({
    maxSize: CACHED_BYTES,
    sizeCalculation: bytesOf,
    ttl: KEPT_MS,
    perf: { now: () => clock.monotonic() },
  });
  const loading = new Map<string, Promise<Kept>>();
  /** Counts announcements: answers older than the last one are not cached. */
  let announcements = 0;

  async function fetch(id: string): Promise<Kept> {
    const seen = announcements;
    const found = await load(id);
    if (seen === announcements) kept.set(id, found);
    return found;
  }

  return {
    get(id: string): Promise<Kept> {
      const known = kept.get(id);
      if (known) return Promise.resolve(known);
      const running = loading.get(id) ?? fetch(id).finally(() => loading.delete(id));
      loading.set(id, running);
      return running;
    },
    /** Forgets one voice, or all if none is named. */
    forget(id?: string): void {
      announcements++;
      loading.clear();
      if (id === undefined) kept.clear();
      else kept.delete(id);
    },
  };
}

export interface StoredVoicesParts {
  readonly database: Pick<Database, 'sql' | 'events'> & Partial<Pick<Database, 'asked'>>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
}

/** The cloned voices as one process sees them. `stop` ends its listener. */
export async function createClonedVoices(parts: StoredVoicesParts): Promise<ClonedVoices & { stop(): void }> {
  const { ids, clock, log } = parts;
  const { events, asked: sql = parts.database.sql } = parts.database;
  // A look-up may serve several: no one's end is its own.
  const cache = createCache((id) => ownedBy({ tag: id }, () => audioOf(sql, id)), clock);

  async function references(id: string, workspaceId: string) {
    if (!ID.test(id)) return undefined;
    try {
      const found = await cache.get(id);
      return found.workspaceId === workspaceId ? found.references : undefined;
    } catch (cause) {
      log.warn(whyOf(cause), 'a voice could not be looked up');
      const message = 'The server cannot look up the voice now, try again';
      throw new ServiceError('overloaded', { message, retryAfter: 1, cause });
    }
  }

  const stop = await events.listen('voices', {
    heard: (id) => cache.forget(id),
    missed: () => cache.forget(),
  });
  /** Clears the cache after this process's own changes, without waiting for their announcement. */
  const forgetting = async (id: string, work: Promise<boolean>): Promise<boolean> =>
    work.finally(() => cache.forget(id));
  return {
    stop,
    references,
    list: (workspaceId) => list(sql, workspaceId),
    read: (id, workspaceId) => read(sql, id, workspaceId),
    create: (voice, workspaceId) => create(sql, { ...voice, id: ids.next('voice'), workspaceId }),
    change: (id, workspaceId, changes) => forgetting(id, change(sql, id, workspaceId, changes)),
    remove: (id, workspaceId) => forgetting(id, remove(sql, id, workspaceId)),
  };
}
