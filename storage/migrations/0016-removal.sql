-- Sessions can be deleted, by hand or by age, with all that belongs to them.

create index recordings_started on recordings (started_at);

-- What goes with a session is found by it.
drop index deliveries_session;
create index deliveries_session on deliveries (session_id);

create index sessions_ended on sessions (ended_at) where ended_at is not null;
create index sessions_end_user on sessions (workspace_id, end_user_id) where end_user_id is not null;

-- Filters of the list.
create index sessions_status on sessions (workspace_id, status, position desc);
create index sessions_caller on sessions (workspace_id, caller_number, position desc) where caller_number is not null;
create index sessions_created on sessions (workspace_id, created_at);
