-- Voice sessions, what they said, and which process holds them. An agent's sessions outlive the agent.

create table sessions (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  position bigint generated always as identity unique,
  agent_id text not null,
  agent_name text not null,
  -- Null for a preview of a draft.
  version_number integer,
  config_hash text not null,
  source text not null check (source in ('api_key', 'dashboard', 'public', 'phone')),
  name text,
  end_user_id text,
  caller_number text,
  dialed_number text,
  timezone text not null,
  -- JSON as it came, which jsonb would put in another order.
  metadata text not null,
  overrides text not null,
  -- What the conversation runs; without its rendered texts once it has ended, null once nothing needs it.
  plan jsonb,
  status text not null default 'pending' check (status in ('pending', 'active', 'completed', 'failed')),
  created_at timestamptz not null default now(),
  -- Until when it may be joined; the token is spent with `joined_at`.
  expires_at timestamptz not null,
  joined_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  ended_reason text check (ended_reason in ('hangup', 'timeout', 'ended_by_api', 'error', 'not_joined')),
  max_duration_seconds integer not null,
  -- The process that holds the conversation.
  owner_id text,
  analysis text,
  analysis_attempts integer not null default 0,
  -- Null where no analysis waits.
  analysis_due_at timestamptz,
  check ((ended_at is null) = (status in ('pending', 'active')))
);

create index sessions_workspace on sessions (workspace_id, position desc);
create index sessions_agent on sessions (workspace_id, agent_id, position desc);
create index sessions_live on sessions (workspace_id, status) where status in ('pending', 'active');
create index sessions_analysis on sessions (analysis_due_at) where analysis_due_at is not null;

create table session_items (
  session_id text not null references sessions (id) on delete cascade,
  position bigint generated always as identity,
  type text not null check (type in ('message', 'tool_call', 'tool_result')),
  turn_id integer not null,
  created_at timestamptz not null,
  -- JSON of the rest.
  content text not null,
  primary key (session_id, position)
);

-- Processes that may own sessions, and where they take signalling frames.
create table session_owners (
  process_id text primary key,
  address text not null,
  seen_at timestamptz not null default now()
);

-- The owner lets go of the call as soon as the row says that it has ended.
create function announce_session_end() returns trigger language plpgsql as $$
begin
  perform pg_notify('session_ends', new.id);
  return null;
end $$;

create trigger sessions_ended after update of ended_at on sessions
  for each row when (old.ended_at is null and new.ended_at is not null) execute function announce_session_end();
