-- Lists of sessions by the moment of creation, newest first, out of indexes alone: a filter's index has the list's order,
-- so that a page is read from where it begins, and the columns of the other filters, so that a total visits no rows.
-- Indexes that are there already were made before the upgrade (docs/operating.md, "Upgrades").

create index if not exists sessions_newest
  on sessions (workspace_id, created_at desc, position desc) include (status, source);
create index if not exists sessions_by_agent
  on sessions (workspace_id, agent_id, created_at desc, position desc) include (status) where source <> 'dashboard';
create index if not exists sessions_by_status
  on sessions (workspace_id, status, created_at desc, position desc) where source <> 'dashboard';
create index if not exists sessions_by_caller
  on sessions (workspace_id, caller_number, created_at desc, position desc) include (status, agent_id, end_user_id)
  where caller_number is not null and source <> 'dashboard';
-- Previews too: all sessions of an end user are deleted by it.
create index if not exists sessions_by_end_user
  on sessions (workspace_id, end_user_id, created_at desc, position desc) include (status, agent_id, source)
  where end_user_id is not null;

drop index sessions_workspace, sessions_created, sessions_agent, sessions_status, sessions_caller, sessions_end_user;

-- A total visits the rows that changed since the last vacuum; by default those may be a fifth of the table.
alter table sessions set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
