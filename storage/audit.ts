/** The audit trail (contracts/ports/accounts/audit.ts): a row an entry, with the name that its key had then. */
import {
  AUDIT_ACTIONS,
  type AuditEntries,
  type AuditEntry,
  type AuditFilter,
  type NewAuditEntry,
} from '../contracts/ports/accounts/audit.js';
import { LIMITS } from '../contracts/limits.js';
import type { Listed, PageRequest } from '../contracts/ports/page.js';
import { listed, positionAfter, wantedRows } from './page.js';
import type { Sql } from './postgres/sql.js';

const repeats = (action: NewAuditEntry['action']): boolean => 'repeats' in AUDIT_ACTIONS[action];

/** A subject that the answer does not name has the name of its last entry. */
async function add(sql: Sql, entry: NewAuditEntry): Promise<void> {
  const { workspaceId, keyId, action, subjectId, subjectName, detail, address, fields } = entry;
  await sql`
    with again as (
      update audit_entries set last_at = now(), count = count + 1, subject_name = coalesce(${subjectName}, subject_name),
        fields = (select array_agg(distinct name) from unnest(fields || ${fields as string[]}::text[]) as f (name))
      where id = (
        select id from audit_entries
        where ${repeats(action)} and workspace_id = ${workspaceId} and action = ${action} and key_id = ${keyId}
          and address = ${address} and subject_id is not distinct from ${subjectId}
          and at > now() - ${LIMITS.audit.againMs}::int * interval '1 millisecond'
        order by id desc limit 1)
      returning id)
    insert into audit_entries (workspace_id, action, subject_id, subject_name, detail, key_id, key_name, address, fields)
    select ${workspaceId}, ${action}, ${subjectId},
      coalesce(${subjectName}, (
        select e.subject_name from audit_entries e
        where e.workspace_id = ${workspaceId} and e.subject_id = ${subjectId} and e.subject_name is not null
        order by e.id desc limit 1)),
      ${detail}, k.id, k.name, ${address}, ${fields as string[]}::text[]
    from api_keys k where k.id = ${keyId} and k.workspace_id = ${workspaceId} and not exists (select from again)`;
}

const conditions = (
  sql: Sql,
  workspaceId: string,
  { action, subjectId, keyId, after, before }: AuditFilter,
) => sql`
  e.workspace_id = ${workspaceId}
  ${action === undefined ? sql`` : sql`and e.action = ${action}`}
  ${subjectId === undefined ? sql`` : sql`and e.subject_id = ${subjectId}`}
  ${keyId === undefined ? sql`` : sql`and e.key_id = ${keyId}`}
  ${after ? sql`and e.last_at >= ${after}` : sql``}
  ${before ? sql`and e.at < ${before}` : sql``}`;

type Row = AuditEntry & { readonly position: string };

async function list(
  sql: Sql,
  workspaceId: string,
  filter: AuditFilter,
  page: PageRequest,
): Promise<Listed<AuditEntry>> {
  const where = conditions(sql, workspaceId, filter);
  const rows = await sql<Row[]>`
    select e.id::text as id, e.id::text as position, e.at, e.last_at as "lastAt", e.count, e.action, e.subject_id as "subjectId",
      e.subject_name as "subjectName", e.detail, e.key_id as "keyId", e.key_name as "keyName", e.address,
      to_json(e.fields) as fields
    from audit_entries e where ${where} and e.id < ${positionAfter(page)}
    order by e.id desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total
    ? await sql<{ total: number }[]>`select count(*)::int as total from audit_entries e where ${where}`
    : [];
  return listed(rows, page, counted?.total ?? null, ({ position: _, ...row }) => row);
}

/** Most batches of one sweep; the rest waits for the next. */
const BATCHES = 50;
const AT_ONCE = 1000;

/** Removes entries of more than `days` ago; 0 keeps all. */
export async function removeOldEntries(sql: Sql, days: number): Promise<void> {
  for (let batch = 0; days > 0 && batch < BATCHES; batch += 1) {
    const { count } = await sql`
      delete from audit_entries where id in (
        select id from audit_entries where last_at < now() - ${days}::int * interval '1 day'
        limit ${AT_ONCE} for update skip locked)`;
    if (count < AT_ONCE) return;
  }
}

/** `sql` adds: an entry is kept also if its client has left. `asked` lists. */
export const createAuditEntries = ({
  sql,
  asked,
}: {
  readonly sql: Sql;
  readonly asked: Sql;
}): AuditEntries => ({
  add: (entry) => add(sql, entry),
  list: (workspaceId, filter, page) => list(asked, workspaceId, filter, page),
});
