-- Attempts to place calls on a day (UTC), for `PHONE_CALLS_PER_DAY`: a row a workspace, counted by all nodes.
create table placed_call_attempts (
  workspace_id text primary key references workspaces (id) on delete cascade,
  day date not null,
  attempts integer not null
);

-- When the outcome of the dialling was told (`phone_call.dial_finished`). Null: not yet, or by an older release, which does not tell it.
alter table placed_calls add column dial_told_at timestamptz;
