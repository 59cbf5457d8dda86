-- Requests to send many deliveries again, which are worked off in the background.

create table redeliveries (
  id bigint generated always as identity primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  -- Which: those of that outcome, and of these if they are not null.
  outcome text not null check (outcome in ('delivered', 'failed')),
  agent_id text,
  session_id text,
  url text,
  created_after timestamptz,
  created_before timestamptz,
  created_at timestamptz not null default now(),
  -- Deliveries that were there at that time, up to this one.
  up_to bigint not null,
  -- The last one that was looked at, and how many wait again because of this.
  reached bigint not null default 0,
  redelivered integer not null default 0,
  finished_at timestamptz
);

create unique index redeliveries_open on redeliveries (workspace_id) where finished_at is null;
create index redeliveries_finished on redeliveries (finished_at) where finished_at is not null;

-- The request because of which it waits; null if it was asked for by itself.
alter table deliveries add column redelivery_id bigint references redeliveries (id) on delete set null;
create index deliveries_of_redelivery on deliveries (redelivery_id) where redelivery_id is not null;
create index deliveries_asked on deliveries (workspace_id, redelivered_at)
  where settled_at is null and redelivered_at is not null and redelivery_id is null;
