/**
 * The tools that sessions and tests refer to instead of copying them (contracts/ports/sessions/sessions.ts `SessionPlan`): kept
 * once per agent and content, since versions go with their agent while its conversations continue, and drafts change.
 * In this process each is one list (plan-cache.ts).
 */
import { plannedTools } from '../../contracts/agents/plan.js';
import type { FrozenTool } from '../../contracts/ports/agents/tools.js';
import type { PlannedTool, SessionPlan } from '../../contracts/ports/sessions/sessions.js';
import { completeConfig } from '../../contracts/schemas/agent-merge.js';
import { completeTool, type ToolDefinition } from '../../contracts/schemas/tools.js';
import type { Fragment, Sql, Transaction } from '../postgres/sql.js';
import type { PlanCache, SizedContent } from './plan-cache.js';

/** What a plan's tools are found by. */
export interface PlanKey {
  readonly agentId: string;
  readonly workspaceId: string;
  readonly configHash: string;
}

/** A plan as rows have it: without `tools` if it shares them. The previous release, and plans of no tools, have them in it. */
export type StoredPlan = Omit<SessionPlan, 'tools'> & Partial<Pick<SessionPlan, 'tools'>>;

/** A tool, and its size as JSON text. */
export interface ToolRow {
  readonly id: string;
  readonly definition: ToolDefinition;
  readonly bytes: number;
}

/** A row a tool, so that no text of a whole plan is parsed at once. */
export const publishedTools = (sql: Sql | Transaction, agentId: string, number: number) => sql<ToolRow[]>`
  select t.tool ->> 'id' as id, t.tool -> 'definition' as definition, octet_length(t.tool::text) as bytes
  from agent_versions v, jsonb_array_elements(v.tools) with ordinality as t (tool, place)
  where v.agent_id = ${agentId} and v.number = ${number} order by t.place`;

export const weighed = (rows: readonly ToolRow[]): SizedContent<readonly FrozenTool[]> => ({
  content: rows.map(({ id, definition }) => ({ id, definition: completeTool(definition) })),
  bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
});

/** The plan as a row has it. */
export const storedPlan = ({ tools, ...own }: SessionPlan): StoredPlan =>
  tools.length === 0 ? { ...own, tools } : own;

/** How long contents are kept after a use, so that none goes between `keep` and the row that refers to it. */
const GRACE_MINUTES = 60;

const toolsKey = (agentId: string, configHash: string): string => `tools ${agentId} ${configHash}`;

export class PlanContents {
  /** Contents that are being written. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(
    private readonly sql: Sql,
    private readonly cache: PlanCache,
  ) {}

  /** The tools of an agent's content if this process has them. Errors: `memory_exhausted`. */
  known({ agentId, configHash }: PlanKey): readonly FrozenTool[] | undefined {
    return this.cache.find(toolsKey(agentId, configHash));
  }

  /** The tools of an agent's content; `read` knows them if this process does not. */
  tools(
    { agentId, workspaceId, configHash }: PlanKey,
    read: () => Promise<SizedContent<readonly FrozenTool[]>>,
  ): Promise<readonly FrozenTool[]> {
    return this.cache.get(toolsKey(agentId, configHash), workspaceId, read);
  }

  /** The plan of a row, with defaults for what is newer than the gateway that wrote it. Errors: `memory_exhausted`. */
  async planOf({ tools: own, ...plan }: StoredPlan, key: Omit<PlanKey, 'configHash'>): Promise<SessionPlan> {
    const tools = own?.map((tool) => ({ ...tool, definition: completeTool(tool.definition) }));
    return {
      ...plan,
      config: completeConfig(plan.config),
      tools: tools ?? (await this.#sharedTools({ ...key, configHash: plan.configHash })),
    };
  }

  /** Makes sure that rows can refer to the plan's tools for some time. Errors: the database's. */
  async keep({ tools, configHash }: SessionPlan, key: Omit<PlanKey, 'configHash'>): Promise<void> {
    if (tools.length === 0) return;
    const name = `${key.agentId} ${configHash}`;
    const writing = this.#writing.get(name) ?? this.#keep({ ...key, configHash }, tools);
    this.#writing.set(name, writing);
    await writing.finally(() => this.#writing.delete(name));
  }

  async #sharedTools(key: PlanKey): Promise<readonly PlannedTool[]> {
    const { sql } = this;
    const read = async () =>
      weighed(
        await sql<ToolRow[]>`
          select tool_id as id, definition, octet_length(definition::text) as bytes from plan_tools
          where agent_id = ${key.agentId} and config_hash = ${key.configHash} order by place`,
      );
    return plannedTools({ tools: await this.tools(key, read) });
  }

  async #keep(key: PlanKey, tools: readonly PlannedTool[]): Promise<void> {
    const { sql } = this;
    const of = sameContent(sql, key);
    const [kept] = await sql`
      with touched as (
        update plan_contents set used_at = now() where ${of} and used_at < now() - interval '10 minutes')
      select from plan_contents where ${of}`;
    if (!kept) await sql.begin((tx) => write(tx, key, tools));
  }
}

const sameContent = (sql: Sql | Transaction, { agentId, configHash }: PlanKey): Fragment =>
  sql`agent_id = ${agentId} and config_hash = ${configHash}`;

/** A statement a tool: none of them is large. If another process writes the same, this waits for it and adds nothing. */
async function write(tx: Transaction, key: PlanKey, tools: readonly PlannedTool[]): Promise<void> {
  const { agentId, configHash, workspaceId } = key;
  const { count } = await tx`
    insert into plan_contents (agent_id, config_hash, workspace_id)
    values (${agentId}, ${configHash}, ${workspaceId})
    on conflict do nothing`;
  if (count === 0) return;
  for (const [place, { toolId, functionName, definition }] of tools.entries())
    await tx`
      insert into plan_tools (agent_id, config_hash, place, tool_id, function_name, definition)
      values (${agentId}, ${configHash}, ${place}, ${toolId}, ${functionName}, ${tx.json(definition as never)})`;
}

/** Removes contents that no session and no test has any more. */
export const dropUnusedPlans = (sql: Sql) => sql`
  delete from plan_contents p where p.used_at < now() - ${GRACE_MINUTES}::int * interval '1 minute'
    and not exists (select from sessions s
      where s.agent_id = p.agent_id and s.config_hash = p.config_hash and s.plan is not null)
    and not exists (select from agent_test_runs r
      where r.workspace_id = p.workspace_id and r.ended_at is null and r.agent_id = p.agent_id
        and r.config_hash = p.config_hash)`;
