/** Scenarios of tests (contracts/ports/agents/agent-tests.ts). Every statement names the workspace. */
import { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import type {
  NewScenario,
  Scenario,
  Scenarios,
  TestFilter,
} from '../../contracts/ports/agents/agent-tests.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import { listed, positionAfter, wantedRows } from '../page.js';
import type { Sql, Transaction } from '../postgres/sql.js';

const columns = (sql: Sql | Transaction) => sql`
  s.id, s.agent_id as "agentId", s.name, s.definition, s.created_at as "createdAt", s.updated_at as "updatedAt"`;

/** Locks the agent's row, so that additions are counted one after the other. False if there is no such agent. */
export async function holdAgent(tx: Transaction, agentId: string, workspaceId: string): Promise<boolean> {
  const [row] = await tx`
    select from agents where id = ${agentId} and workspace_id = ${workspaceId} for no key update`;
  return row !== undefined;
}

export const tooMany = (what: string, most: number): ServiceError =>
  new ServiceError('conflict', { message: `The agent has ${most} ${what} already; delete some first` });

async function list(
  sql: Sql,
  workspaceId: string,
  { agentId = '' }: TestFilter,
  page: PageRequest,
): Promise<Listed<Scenario>> {
  const where = sql`s.workspace_id = ${workspaceId} and (${agentId} = '' or s.agent_id = ${agentId})`;
  const rows = await sql<(Scenario & { position: string })[]>`
    select ${columns(sql)}, s.position::text as position from agent_test_scenarios s
    where ${where} and s.position < ${positionAfter(page)}
    order by s.position desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total
    ? await sql<{ total: number }[]>`select count(*)::int as total from agent_test_scenarios s where ${where}`
    : [];
  return listed(rows, page, counted?.total ?? null, ({ position: _, ...scenario }) => scenario);
}

async function read(sql: Sql | Transaction, id: string, workspaceId: string): Promise<Scenario | undefined> {
  const [row] = await sql<Scenario[]>`
    select ${columns(sql)} from agent_test_scenarios s where s.id = ${id} and s.workspace_id = ${workspaceId}`;
  return row;
}

async function insert(
  tx: Transaction,
  id: string,
  { agentId, name, definition }: NewScenario,
  workspaceId: string,
): Promise<Scenario | undefined> {
  if (!(await holdAgent(tx, agentId, workspaceId))) return undefined;
  const { scenarios: most } = LIMITS.agentTest;
  const [row] = await tx<Scenario[]>`
    insert into agent_test_scenarios as s (id, workspace_id, agent_id, name, definition)
    select ${id}, ${workspaceId}, ${agentId}, ${name}, ${tx.json(definition as never)}
    where ${most} > (select count(*) from agent_test_scenarios where agent_id = ${agentId})
    returning ${columns(tx)}`;
  if (!row) throw tooMany('scenarios', most);
  return row;
}

/** All scenarios of the agent, or those with these ids in their order. */
async function ofAgent(
  sql: Sql,
  agentId: string,
  workspaceId: string,
  ids?: readonly string[],
): Promise<readonly Scenario[]> {
  const wanted = ids ? sql`and s.id = any(${ids as string[]})` : sql``;
  const rows = await sql<Scenario[]>`
    select ${columns(sql)} from agent_test_scenarios s
    where s.agent_id = ${agentId} and s.workspace_id = ${workspaceId} ${wanted}
    order by s.position limit ${LIMITS.agentTest.scenarios}`;
  if (!ids) return [...rows];
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export const createScenarios = ({ sql, ids }: { readonly sql: Sql; readonly ids: Ids }): Scenarios => ({
  list: (workspaceId, filter, page) => list(sql, workspaceId, filter, page),
  read: (id, workspaceId) => read(sql, id, workspaceId),
  of: (agentId, workspaceId, wanted) => ofAgent(sql, agentId, workspaceId, wanted),

  create: (scenario, workspaceId) =>
    sql.begin((tx) => insert(tx, ids.next('scenario'), scenario, workspaceId)) as Promise<
      Scenario | undefined
    >,

  change: (id, workspaceId, revise) =>
    sql.begin(async (tx) => {
      const [current] = await tx<Scenario[]>`
        select ${columns(tx)} from agent_test_scenarios s
        where s.id = ${id} and s.workspace_id = ${workspaceId} for no key update`;
      if (!current) return undefined;
      const { name, definition } = revise(current);
      const [row] = await tx<Scenario[]>`
        update agent_test_scenarios s set name = ${name}, definition = ${tx.json(definition as never)}, updated_at = now()
        where s.id = ${id} returning ${columns(tx)}`;
      return row;
    }) as Promise<Scenario | undefined>,

  async remove(id, workspaceId) {
    const { count } = await sql`
      delete from agent_test_scenarios where id = ${id} and workspace_id = ${workspaceId}`;
    return count > 0;
  },
});
