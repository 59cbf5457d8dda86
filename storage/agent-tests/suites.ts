/** Suites of scenarios (contracts/ports/agents/agent-tests.ts). Every statement names the workspace. */
import { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import type { NewSuite, Suite, Suites, TestFilter } from '../../contracts/ports/agents/agent-tests.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import { listed, positionAfter, wantedRows } from '../page.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { holdAgent, tooMany } from './scenarios.js';

const columns = (sql: Sql | Transaction) => sql`
  s.id, s.agent_id as "agentId", s.name, s.created_at as "createdAt", s.updated_at as "updatedAt",
  array(select m.scenario_id from agent_test_suite_scenarios m where m.suite_id = s.id order by m.place) as "scenarioIds"`;

async function list(
  sql: Sql,
  workspaceId: string,
  { agentId = '' }: TestFilter,
  page: PageRequest,
): Promise<Listed<Suite>> {
  const where = sql`s.workspace_id = ${workspaceId} and (${agentId} = '' or s.agent_id = ${agentId})`;
  const rows = await sql<(Suite & { position: string })[]>`
    select ${columns(sql)}, s.position::text as position from agent_test_suites s
    where ${where} and s.position < ${positionAfter(page)}
    order by s.position desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total
    ? await sql<{ total: number }[]>`select count(*)::int as total from agent_test_suites s where ${where}`
    : [];
  return listed(rows, page, counted?.total ?? null, ({ position: _, ...suite }) => suite);
}

async function read(sql: Sql | Transaction, id: string, workspaceId: string): Promise<Suite | undefined> {
  const [row] = await sql<Suite[]>`
    select ${columns(sql)} from agent_test_suites s where s.id = ${id} and s.workspace_id = ${workspaceId}`;
  return row;
}

/** Replaces the suite's scenarios; ids that the agent does not have are left out. */
async function fill(tx: Transaction, suiteId: string, scenarioIds: readonly string[]): Promise<void> {
  await tx`delete from agent_test_suite_scenarios where suite_id = ${suiteId}`;
  await tx`
    insert into agent_test_suite_scenarios (suite_id, scenario_id, place)
    select ${suiteId}, c.id, w.place
    from unnest(${scenarioIds as string[]}::text[]) with ordinality as w (id, place)
    join agent_test_suites s on s.id = ${suiteId}
    join agent_test_scenarios c on c.id = w.id and c.agent_id = s.agent_id`;
}

async function checkName(tx: Transaction, agentId: string, name: string, id = ''): Promise<void> {
  const [taken] = await tx`
    select from agent_test_suites where agent_id = ${agentId} and name = ${name} and id <> ${id}`;
  if (taken) throw new ServiceError('conflict', { message: 'The agent has another suite of this name' });
}

async function insert(
  tx: Transaction,
  id: string,
  { agentId, name, scenarioIds }: NewSuite,
  workspaceId: string,
): Promise<Suite | undefined> {
  if (!(await holdAgent(tx, agentId, workspaceId))) return undefined;
  await checkName(tx, agentId, name);
  const { suites: most } = LIMITS.agentTest;
  const { count } = await tx`
    insert into agent_test_suites (id, workspace_id, agent_id, name)
    select ${id}, ${workspaceId}, ${agentId}, ${name}
    where ${most} > (select count(*) from agent_test_suites where agent_id = ${agentId})`;
  if (count === 0) throw tooMany('suites', most);
  await fill(tx, id, scenarioIds);
  return read(tx, id, workspaceId);
}

async function update(
  tx: Transaction,
  id: string,
  workspaceId: string,
  { name, scenarioIds }: Partial<NewSuite>,
): Promise<Suite | undefined> {
  const current = await read(tx, id, workspaceId);
  if (!current || !(await holdAgent(tx, current.agentId, workspaceId))) return undefined;
  if (name !== undefined) await checkName(tx, current.agentId, name, id);
  await tx`
    update agent_test_suites set name = coalesce(${name ?? null}, name), updated_at = now() where id = ${id}`;
  if (scenarioIds) await fill(tx, id, scenarioIds);
  return read(tx, id, workspaceId);
}

export const createSuites = ({ sql, ids }: { readonly sql: Sql; readonly ids: Ids }): Suites => ({
  list: (workspaceId, filter, page) => list(sql, workspaceId, filter, page),
  read: (id, workspaceId) => read(sql, id, workspaceId),
  create: (suite, workspaceId) =>
    sql.begin((tx) => insert(tx, ids.next('suite'), suite, workspaceId)) as Promise<Suite | undefined>,
  change: (id, workspaceId, change) =>
    sql.begin((tx) => update(tx, id, workspaceId, change)) as Promise<Suite | undefined>,
  async remove(id, workspaceId) {
    const { count } = await sql`
      delete from agent_test_suites where id = ${id} and workspace_id = ${workspaceId}`;
    return count > 0;
  },
});
