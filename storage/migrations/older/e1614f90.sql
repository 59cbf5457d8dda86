-- From the database of commit e1614f90 to 0001-schema.sql.

-- Whose a phone number is: each has an address of its own for its provider, and a time since which it was proven.

alter table phone_numbers
  -- Part of that address. Two random ids: 244 bits that nobody can guess.
  add column token text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  -- A call came to that address, or a placed one was answered, or the operator has decided. Null: not yet.
  add column proven_at timestamptz;

create unique index phone_numbers_token on phone_numbers (token);

-- Numbers that are in use, and that nobody else has registered, go on as they are.
update phone_numbers p set proven_at = now()
where exists (select from phone_calls c where c.number_id = p.id)
  and not exists (
    select from phone_numbers o where o.provider = p.provider and o.address = p.address and o.id <> p.id);

-- The tools of agents that sessions and tests run, kept once for all of them: a session's `plan` without `tools` refers to them
-- by its agent and its `config_hash`, a test by those of its run. They go once nothing refers to them.

create table plan_contents (
  agent_id text not null,
  -- Of configuration, tools and revisions: equal content has the same one.
  config_hash text not null,
  workspace_id text not null references workspaces (id) on delete cascade,
  used_at timestamptz not null default now(),
  primary key (agent_id, config_hash)
);

create index plan_contents_used on plan_contents (used_at);
create index plan_contents_workspace on plan_contents (workspace_id);

create table plan_tools (
  agent_id text not null,
  config_hash text not null,
  place integer not null,
  tool_id text not null,
  function_name text not null,
  definition jsonb not null,
  primary key (agent_id, config_hash, place),
  foreign key (agent_id, config_hash) references plan_contents (agent_id, config_hash) on delete cascade
);

create index plan_tools_tool on plan_tools (tool_id);

create index sessions_planned on sessions (agent_id, config_hash) where plan is not null;

-- How long a call has lasted, as its owner measures it by a clock that nobody sets: up to `measured_at`, when it said so last.
-- Null for calls of before.

alter table sessions
  add column measured_ms bigint,
  add column measured_at timestamptz;

-- Keys that see the figures of all workspaces and nothing else.

alter table api_keys drop constraint api_keys_role_check;
alter table api_keys add constraint api_keys_role_check
  check (role in ('full', 'speech', 'sessions', 'read', 'machine'));

-- Workspaces take turns in the outbox: what of each is due, and what of it is being sent.

create index deliveries_turns on deliveries (workspace_id, due_at) where settled_at is null;
create index deliveries_taken on deliveries (workspace_id) where settled_at is null and taken_until is not null;

-- Calls that end because answers failed in a row, or whose transport was lost.

alter table sessions drop constraint sessions_ended_reason_check;
alter table sessions add constraint sessions_ended_reason_check
  check (ended_reason in ('hangup', 'timeout', 'ended_by_api', 'error', 'not_joined', 'transferred',
    'llm_endpoint_failure', 'speech_failure', 'transport_lost'));

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

-- Calls at once are counted by themselves, no longer as jobs: a workspace's number (null: the installation's), and the sessions
-- that have a place for a call from their creation on, as nobody can refuse them later (calls by telephone, in rooms of
-- LiveKit, of tests). Others have one once they are joined.

alter table workspaces add column calls integer check (calls >= 0);
alter table sessions add column reserved boolean not null default false;

-- Turns in which the agent could not answer: lists of calls count them without reading the turns.

alter table session_turns add column failed boolean not null default false;
create index session_turns_failed on session_turns (session_id) where failed;
