/**
 * Workspaces own keys, agents, sessions, voices, slots, usage and quotas. An installation starts with one, the default.
 * Deleting a workspace's row deletes everything that it owns (`on delete cascade`); the files of its recordings are
 * removed after their rows (recordings.ts).
 */
import { commandLine } from '../contracts/command-line.js';
import type { Ids } from '../contracts/ids.js';
import { LIVE_STATUSES } from '../contracts/sessions/session-states.js';
import type { Sql, Transaction } from './postgres/sql.js';
import { oneOf } from './postgres/states.js';
import { StorageFailure } from './failure.js';
import { exclusively } from './postgres/migrate.js';
import { endSession } from './sessions/endings.js';

const DEFAULT = 'default_workspace';
const MOST_LISTED = 1000;
/** Time for the owners of ended sessions to write the last items. */
const LAST_WORDS_MS = 1000;

export interface Workspace {
  readonly id: string;
  readonly name: string;
}

export interface WorkspaceRow extends Workspace {
  readonly isDefault: boolean;
  readonly createdAt: Date;
  /** Number of keys that are neither revoked nor expired. */
  readonly keys: number;
  readonly agents: number;
  readonly sessions: number;
  readonly liveSessions: number;
}

/** The id of the default workspace, created the first time. Several processes may do so at once. */
export const ensureDefaultWorkspace = (sql: Sql, ids: Ids): Promise<string> =>
  exclusively(sql, DEFAULT, async (tx) => {
    const [known] = await tx<{ value: string }[]>`select value from settings where name = ${DEFAULT}`;
    if (known) return known.value;
    const id = ids.next('workspace');
    await tx`insert into workspaces (id, name) values (${id}, 'Default')`;
    await tx`insert into settings (name, value) values (${DEFAULT}, ${id})`;
    return id;
  });

const named = (sql: Sql | Transaction, nameOrId: string) =>
  sql<Workspace[]>`select id, name from workspaces where id = ${nameOrId} or name = ${nameOrId} order by id`;

/**
 * The workspace with that id or name. Errors: `StorageFailure` if there is none, or several have the name.
 */
export async function findWorkspace(sql: Sql, nameOrId: string): Promise<Workspace> {
  const found = await named(sql, nameOrId);
  const row = found.find(({ id }) => id === nameOrId) ?? found[0];
  if (!row)
    throw new StorageFailure(`No workspace is named ${nameOrId}: see ${commandLine('workspaces', 'list')}`);
  if (found.length > 1 && row.id !== nameOrId)
    throw new StorageFailure(
      `Several workspaces are named ${nameOrId}, say which: ${found.map(({ id }) => id).join(', ')}`,
    );
  return row;
}

/** Errors: `StorageFailure` if the name is taken. */
export const createWorkspace = (sql: Sql, ids: Ids, name: string): Promise<Workspace> =>
  exclusively(sql, 'workspaces', async (tx) => {
    if ((await named(tx, name)).length > 0) throw new StorageFailure(`There is a workspace ${name} already`);
    const id = ids.next('workspace');
    await tx`insert into workspaces (id, name) values (${id}, ${name})`;
    return { id, name };
  });

/** The oldest thousand workspaces. */
export const listWorkspaces = (sql: Sql): Promise<WorkspaceRow[]> => sql<WorkspaceRow[]>`
  select w.id, w.name, w.created_at as "createdAt",
    exists (select 1 from settings where name = ${DEFAULT} and value = w.id) as "isDefault",
    (select count(*)::int from api_keys k where k.workspace_id = w.id and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())) as keys,
    (select count(*)::int from agents where workspace_id = w.id) as agents,
    (select count(*)::int from sessions where workspace_id = w.id) as sessions,
    (select count(*)::int from sessions where workspace_id = w.id and status in ${oneOf(sql, LIVE_STATUSES)})
      as "liveSessions"
  from workspaces w order by w.created_at, w.id limit ${MOST_LISTED}`;

const liveSessions = (sql: Sql | Transaction, id: string) =>
  sql<
    { id: string }[]
  >`select id from sessions where workspace_id = ${id} and status in ${oneOf(sql, LIVE_STATUSES)}`;

/** Limits of one workspace; null means the installation's. */
export interface WorkspaceLimits {
  /** Jobs at once, calls apart. */
  readonly concurrency: number | null;
  /** Calls at once. */
  readonly calls: number | null;
  /** The others are quotas a month. */
  readonly synthesisCharacters: number | null;
  readonly transcriptionMs: number | null;
  readonly conversationMs: number | null;
  /** Whether it may place no calls. */
  readonly outboundDisabled: boolean;
}

/** Sets the given limits and returns all. Errors: `StorageFailure` for an unknown workspace. */
export async function limitWorkspace(
  sql: Sql,
  nameOrId: string,
  limits: Partial<WorkspaceLimits>,
): Promise<Workspace & WorkspaceLimits> {
  const { id } = await findWorkspace(sql, nameOrId);
  const column = (name: keyof WorkspaceLimits) =>
    limits[name] === undefined ? sql`${sql(COLUMNS[name])}` : sql`${limits[name]}`;
  const [row] = await sql<(Workspace & WorkspaceLimits)[]>`
    update workspaces set concurrency = ${column('concurrency')}, calls = ${column('calls')},
      synthesis_characters = ${column('synthesisCharacters')},
      transcription_ms = ${column('transcriptionMs')}, conversation_ms = ${column('conversationMs')},
      outbound_disabled = ${column('outboundDisabled')}
    where id = ${id}
    returning id, name, concurrency, calls, synthesis_characters::float8 as "synthesisCharacters",
      transcription_ms::float8 as "transcriptionMs", conversation_ms::float8 as "conversationMs",
      outbound_disabled as "outboundDisabled"`;
  if (!row)
    throw new StorageFailure(`No workspace is named ${nameOrId}: see ${commandLine('workspaces', 'list')}`);
  return row;
}

const COLUMNS: Readonly<Record<keyof WorkspaceLimits, string>> = {
  concurrency: 'concurrency',
  calls: 'calls',
  synthesisCharacters: 'synthesis_characters',
  transcriptionMs: 'transcription_ms',
  conversationMs: 'conversation_ms',
  outboundDisabled: 'outbound_disabled',
};

/** Closes a workspace: refuses new sessions, ends running ones, and gives their owners a moment. */
async function endEverything(sql: Sql, id: string): Promise<void> {
  await sql`update api_keys set revoked_at = now() where workspace_id = ${id} and revoked_at is null`;
  await sql`update agents set public_enabled = false where workspace_id = ${id}`;
  const live = await liveSessions(sql, id);
  for (const session of live) await endSession(sql, session.id, 'ended_by_api');
  if (live.length > 0) await new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS));
}

/** Removes the workspace under its lock, so that nothing can be added. Errors: `StorageFailure` if sessions are live. */
const removeRows = (sql: Sql, { id, name }: Workspace, force: boolean): Promise<void> =>
  exclusively(sql, 'workspaces', async (tx) => {
    await tx`select 1 from workspaces where id = ${id} for update`;
    const live = force ? [] : await liveSessions(tx, id);
    if (live.length > 0)
      throw new StorageFailure(
        `${name} has ${live.length} live session${live.length === 1 ? '' : 's'}: wait for their end, or add --force, which ends them`,
      );
    await tx`delete from workspaces where id = ${id}`;
  });

/**
 * Removes a workspace with everything that it owns; `force` ends its live sessions first. Errors: `StorageFailure` for
 * the default workspace, an unknown one, and one with live sessions.
 */
export async function removeWorkspace(sql: Sql, nameOrId: string, force: boolean): Promise<Workspace> {
  const workspace = await findWorkspace(sql, nameOrId);
  const [isDefault] = await sql`select 1 from settings where name = ${DEFAULT} and value = ${workspace.id}`;
  if (isDefault) throw new StorageFailure(`${workspace.name} is the default workspace and stays`);
  if (force) await endEverything(sql, workspace.id);
  await removeRows(sql, workspace, force);
  return workspace;
}
