/**
 * Places of calls, counted in the sessions themselves, so that all processes and nodes count the same. A session has a place
 * once it is joined; one that is `reserved` has it from its creation on. Chats take none, and are counted by themselves.
 *
 * Invariant: a workspace never has more calls than its number: each place is given under the workspace's row lock. What it leaves
 * for others is counted without theirs, so two of them may take the last place at once; the nodes themselves bound that.
 */
import { type CallFigures, mayCall } from '../../contracts/admission/call-places.js';
import { SHARE } from '../../contracts/admission/share.js';
import { LIMITS } from '../../contracts/limits.js';
import { CALLED } from '../../contracts/sessions/session-states.js';
import { isAlive } from '../nodes.js';
import type { Fragment, Sql, Transaction } from '../postgres/sql.js';
import { isIn, isLive } from './states.js';

/** Needs the sessions as `s`. */
const hasPlace = (sql: Sql | Transaction) => sql`
  ${isLive(sql)} and s.source <> 'chat' and (s.reserved or ${isIn(sql, CALLED)})`;

/** Nodes that begin calls, as `o`. */
const taking = (sql: Sql | Transaction) => sql`
  session_owners o where o.url is not null and not o.draining and ${isAlive(sql)}`;

/** Calls of a node that is leaving take none of the places of the others. */
const stays = (sql: Sql | Transaction) => sql`
  not exists (select from session_owners o where o.process_id = s.owner_id and o.draining)`;

const figuresOf = (sql: Sql | Transaction, workspaceId: string, most: number | null) => sql<CallFigures[]>`
  with nodes as (
    select case when bool_and(o.places is not null) then sum(o.places)::float8 end as places from ${taking(sql)}
  )
  select coalesce(w.calls, ${most}::float8) as most,
    (select count(*)::int from sessions s where s.workspace_id = w.id and ${hasPlace(sql)}) as own,
    case when nodes.places is not null then
      nodes.places - (select count(*)::int from sessions s where ${hasPlace(sql)} and ${stays(sql)}) end as free,
    exists (select from workspaces other where other.id <> w.id) as shared
  from workspaces w, nodes where w.id = ${workspaceId}`;

/** `mayCall` in SQL. Needs the figures as `f`. */
export const mayCallBy = (sql: Sql | Transaction): Fragment => sql`
  (f.most is null or f.own < f.most)
    and (f.free is null or f.free <= 0 or not f.shared or f.own < ${SHARE}::float8 * (f.own + f.free))`;

/** As `hasCallLeft`, as a condition for a statement that does something at once if there is a call left. */
export const callIsLeft = (sql: Sql | Transaction, workspaceId: string, most: number | null): Fragment =>
  sql`coalesce((select ${mayCallBy(sql)} from (${figuresOf(sql, workspaceId, most)}) as f), true)`;

/** Whether the workspace may have another call; `most`: without a number of its own. True for one that does not exist. */
export async function hasCallLeft(
  sql: Sql | Transaction,
  workspaceId: string,
  most: number | null,
): Promise<boolean> {
  const [figures] = await figuresOf(sql, workspaceId, most);
  return figures === undefined || mayCall(figures);
}

/**
 * Gives a place: runs `give` while no other call of the workspace can get one. Undefined if the workspace may not have another
 * call. Under read committed, the count sees everything committed before the lock.
 */
export const withCallPlace = <T>(
  sql: Sql,
  workspaceId: string,
  most: number | null,
  give: (tx: Transaction) => Promise<T>,
): Promise<T | undefined> =>
  sql.begin(async (tx) => {
    await tx`select from workspaces where id = ${workspaceId} for no key update`;
    return (await hasCallLeft(tx, workspaceId, most)) ? give(tx) : undefined;
  }) as Promise<T | undefined>;

/** Runs `give` while no other chat of the workspace can begin. Undefined if it has as many as it may. */
export const withChatPlace = <T>(
  sql: Sql,
  workspaceId: string,
  give: (tx: Transaction) => Promise<T>,
): Promise<T | undefined> =>
  sql.begin(async (tx) => {
    await tx`select from workspaces where id = ${workspaceId} for no key update`;
    const [row] = await tx<{ chats: number }[]>`
      select count(*)::int as chats from sessions s
      where s.workspace_id = ${workspaceId} and ${isLive(tx)} and s.source = 'chat'`;
    return (row?.chats ?? 0) < LIMITS.agentChat.atOnce ? give(tx) : undefined;
  }) as Promise<T | undefined>;
