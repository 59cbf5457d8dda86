-- Sessions are found by the number of the person, whoever rang: what `sessions_by_caller` is for those who called, and
-- `sessions_by_dialled` for those who were called, this is for both. The previous release reads those two.
create index sessions_by_person
  on sessions (workspace_id, (case when direction = 'outbound' then dialed_number else caller_number end),
    created_at desc, position desc)
  include (status, agent_id, end_user_id, source, direction, caller_number, dialed_number)
  where (case when direction = 'outbound' then dialed_number else caller_number end) is not null;

-- Lists of calls that were placed, and of all others.
create index sessions_by_direction
  on sessions (workspace_id, (coalesce(direction, 'inbound')), created_at desc, position desc)
  include (status, agent_id, end_user_id, direction)
  where source <> 'dashboard';

-- A name for people.
alter table phone_numbers add column label text not null default '';
