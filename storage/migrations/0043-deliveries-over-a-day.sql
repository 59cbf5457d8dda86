-- Deliveries are attempted over a day: ids of events, and receivers that fail and come back.

-- The id of the event in the body; null in rows of earlier releases.
alter table deliveries add column event_id text;
-- Attempts that the plan of attempts counts; one that was made early, since its receiver was back, does not.
alter table deliveries add column steps integer not null default 0;
-- The end of the last attempt.
alter table deliveries add column tried_at timestamptz;

-- A receiver of a workspace is an address, of which the hash stands for up to 4,000 characters. It has a row while it fails.
create table delivery_receivers (
  workspace_id text not null references workspaces (id) on delete cascade,
  address bigint not null,
  -- Failed attempts since the last success.
  failures integer not null default 0,
  -- Pauses since the last success; when the last one began, and its end: nothing is sent before.
  pauses integer not null default 0,
  paused_at timestamptz,
  paused_until timestamptz,
  -- After this pause the oldest delivery was tried, before its time, and failed.
  head_tried boolean not null default false,
  -- It takes what waited for it since then; deliveries taken, and the time from which on the rate allows one more.
  back_at timestamptz,
  taken integer not null default 0,
  next_at timestamptz,
  primary key (workspace_id, address)
);

create index deliveries_line on deliveries (workspace_id, hashtextextended(url, 0), id) where settled_at is null;
create index deliveries_line_due on deliveries (workspace_id, hashtextextended(url, 0), due_at) where settled_at is null;

-- Lists by status, newest first, and the oldest that waits.
create index deliveries_failed on deliveries (workspace_id, id desc) where outcome = 'failed';
create index deliveries_waiting on deliveries (workspace_id, id desc) where settled_at is null;
create index deliveries_oldest on deliveries (created_at) where settled_at is null;
