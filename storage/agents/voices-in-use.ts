/** The agents of all workspaces that speak with voices of an engine: for the operator, who is about to take it away. */
import type { Sql } from '../postgres/sql.js';

const MOST_NAMES = 10;

export interface Users {
  /** The first ones, by name. */
  readonly names: readonly string[];
  readonly count: number;
}

/** Agents whose draft or newest version has one of the voices. Errors: those of the database. */
export async function agentsWithVoices(sql: Sql, voiceIds: readonly string[]): Promise<Users> {
  const rows = await sql<{ name: string; count: number }[]>`
    select a.name, count(*) over ()::int as count from agents a
    left join agent_versions v on v.agent_id = a.id and v.number = a.last_version
    where a.status = 'active'
      and (a.config #>> '{voice,voice_id}' = any(${[...voiceIds]}::text[])
        or v.config #>> '{voice,voice_id}' = any(${[...voiceIds]}::text[]))
    order by a.name limit ${MOST_NAMES}`;
  return { names: rows.map(({ name }) => name), count: rows[0]?.count ?? 0 };
}
