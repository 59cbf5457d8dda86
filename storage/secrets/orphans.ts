/**
 * Credentials that are not needed any more. Those of webhooks, tools and models outlive them as long as a published version, a
 * running conversation or a waiting delivery needs them.
 */
import { LIVE_STATUSES } from '../../contracts/sessions/session-states.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { oneOf } from '../postgres/states.js';

/**
 * Removes orphans of one workspace, or of all. Needs no lock: anything that could still need one locks its agent or tool.
 */
export async function dropOrphanSecrets(sql: Sql | Transaction, workspaceId?: string): Promise<void> {
  await dropOrphansOf(sql, workspaceId);
  await dropOrphanModels(sql, workspaceId);
}

/** An agent that is gone may have been handed a call over that still runs. */
const dropOrphanModels = (sql: Sql | Transaction, workspaceId?: string) => sql`
  delete from model_keys s
  where (${workspaceId ?? null}::text is null or s.workspace_id = ${workspaceId ?? null})
    and not exists (select from agents a where a.id = s.owner_id)
    and not exists (
      select from sessions c where c.workspace_id = s.workspace_id and c.status in ${oneOf(sql, LIVE_STATUSES)}
        and (c.agent_id = s.owner_id or c.plan->'transfers' is not null))
    and not exists (
      select from sessions c where c.analysis_due_at is not null and c.agent_id = s.owner_id)`;

const dropOrphansOf = (sql: Sql | Transaction, workspaceId?: string) => sql`
  delete from secrets s
  where (${workspaceId ?? null}::text is null or s.workspace_id = ${workspaceId ?? null}) and case s.kind
    when 'webhook' then not exists (select from agents a where a.id = s.owner_id)
      and not exists (
        select from sessions c where c.workspace_id = s.workspace_id and c.status in ${oneOf(sql, LIVE_STATUSES)}
          and c.agent_id = s.owner_id)
      and not exists (
        select from sessions c where c.analysis_due_at is not null and c.agent_id = s.owner_id)
      and not exists (
        select from deliveries d where d.workspace_id = s.workspace_id and d.settled_at is null
          and d.agent_id = s.owner_id)
    else not exists (select from tools t where t.id = s.owner_id)
      and not exists (select from agent_versions v where v.tool_ids @> array[s.owner_id])
      and not exists (
        select from sessions c where c.workspace_id = s.workspace_id and c.status in ${oneOf(sql, LIVE_STATUSES)}
          and c.plan->'tools' @> jsonb_build_array(jsonb_build_object('toolId', s.owner_id)))
      and not exists (
        select from plan_tools p join sessions c on c.agent_id = p.agent_id and c.config_hash = p.config_hash
        where p.tool_id = s.owner_id and c.plan is not null and c.status in ${oneOf(sql, LIVE_STATUSES)})
    end`;
