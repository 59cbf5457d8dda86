-- What came of each attempt of a delivery, and deliveries that were asked for once more.

create table delivery_attempts (
  delivery_id bigint not null references deliveries (id) on delete cascade,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  -- Null where there was no answer.
  status_code integer,
  -- Why there was none.
  error text,
  redelivery boolean not null,
  primary key (delivery_id, number)
);

-- Null in rows from before.
alter table deliveries add column created_at timestamptz;
alter table deliveries alter column created_at set default now();

-- The last time that it was asked for once more: what failed since then is not tried again.
alter table deliveries add column redelivered_at timestamptz;

-- Lists, newest first; and how often a workspace has asked.
create index deliveries_newest on deliveries (workspace_id, id desc);
create index deliveries_by_agent on deliveries (workspace_id, agent_id, id desc) include (outcome);
create index deliveries_redelivered on deliveries (workspace_id, redelivered_at) where redelivered_at is not null;
