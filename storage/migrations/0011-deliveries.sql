-- Post-call events for account owners' endpoints: a row before it is sent.

create table deliveries (
  id bigint generated always as identity primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  session_id text not null references sessions (id) on delete cascade,
  agent_id text not null,
  event text not null check (event in ('call.ended', 'call.analyzed')),
  url text not null,
  body text not null,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  -- A process sends it until then.
  taken_until timestamptz,
  outcome text check (outcome in ('delivered', 'failed')),
  settled_at timestamptz,
  -- The last status, or why there was none.
  note text,
  check ((outcome is null) = (settled_at is null))
);

create index deliveries_due on deliveries (due_at) where settled_at is null;
create index deliveries_session on deliveries (session_id) where settled_at is null;
create index deliveries_workspace on deliveries (workspace_id) where settled_at is null;
create index deliveries_settled on deliveries (settled_at) where settled_at is not null;

create function announce_delivery() returns trigger language plpgsql as $$
begin
  notify deliveries;
  return null;
end $$;

create trigger deliveries_added after insert on deliveries for each statement execute function announce_delivery();
