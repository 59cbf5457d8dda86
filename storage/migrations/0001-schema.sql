-- The database of 0.1.0: accounts, voices, agents, sessions, what is sent after them, recordings, telephones, tests.
-- Identities named `position` are places in lists, newest first. `sealed` is AES-256-GCM with the installation's key.

create table settings (
  name text primary key,
  value text not null
);

-- Accounts: workspaces with their quotas, API keys and tokens (digests only), leases of jobs, monthly usage.

create table workspaces (
  id text primary key,
  name text not null,
  -- Slots of running jobs; null takes the installation's default.
  concurrency integer check (concurrency >= 0),
  -- Calls at once; null takes the installation's default.
  calls integer check (calls >= 0),
  -- Quotas a month; null is no quota.
  synthesis_characters bigint check (synthesis_characters >= 0),
  transcription_ms bigint check (transcription_ms >= 0),
  conversation_ms bigint check (conversation_ms >= 0),
  created_at timestamptz not null default now()
);

create table api_keys (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  name text not null,
  -- Where it came from: the first start, API_KEY, or the keys command.
  origin text not null check (origin in ('first', 'environment', 'command')),
  -- `machine`: sees the figures of all workspaces and nothing else.
  role text not null default 'full' check (role in ('full', 'speech', 'sessions', 'read', 'machine')),
  digest bytea not null unique check (octet_length(digest) = 32),
  -- The key's last characters, to tell keys apart in a list.
  tail text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  -- To the minute.
  last_used_at timestamptz,
  revoked_at timestamptz
);

create index api_keys_workspace on api_keys (workspace_id);

-- Every process drops what it knows of a key, also when the row is changed by hand.
create function announce_api_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_keys', coalesce(new.id, old.id));
  return null;
end $$;

-- Being used changes nothing of what processes know of a key.
create trigger api_keys_changed
  after insert or delete or update of id, workspace_id, digest, role, expires_at, revoked_at on api_keys
  for each row execute function announce_api_key();

create table slot_leases (
  workspace_id text not null references workspaces (id) on delete cascade,
  process_id text not null,
  held integer not null check (held > 0),
  expires_at timestamptz not null,
  primary key (workspace_id, process_id)
);

create table usage (
  workspace_id text not null references workspaces (id) on delete cascade,
  kind text not null check (kind in ('synthesis_characters', 'transcription_ms', 'conversation_ms')),
  month date not null,
  amount bigint not null,
  primary key (workspace_id, kind, month)
);

-- Short-lived keys for realtime sockets. An expired row is removed.
create table client_secrets (
  digest bytea primary key check (octet_length(digest) = 32),
  workspace_id text not null references workspaces (id) on delete cascade,
  key_id text not null references api_keys (id) on delete cascade,
  -- As it came: jsonb refuses characters that JSON may hold.
  session json not null,
  expires_at timestamptz not null,
  -- The socket that uses it, and until when it does unless its process says so again.
  held_by uuid,
  held_until timestamptz,
  check ((held_by is null) = (held_until is null))
);

create index client_secrets_workspace on client_secrets (workspace_id, expires_at);
create index client_secrets_expiry on client_secrets (expires_at);

-- Single-use tokens of protocol B. A row goes when it is used or has expired.
create table single_use_tokens (
  digest bytea primary key check (octet_length(digest) = 32),
  workspace_id text not null references workspaces (id) on delete cascade,
  key_id text not null references api_keys (id) on delete cascade,
  kind text not null,
  expires_at timestamptz not null
);

create index single_use_tokens_workspace on single_use_tokens (workspace_id, expires_at);
create index single_use_tokens_expiry on single_use_tokens (expires_at);

-- How many sessions were asked for without a key in the minute that runs, per client address and per agent.
create table public_limits (
  kind text not null check (kind in ('address', 'agent')),
  subject text not null,
  minute timestamptz not null,
  taken integer not null,
  primary key (kind, subject)
);

create index public_limits_minute on public_limits (minute);

-- Credentials of tools and signing secrets of webhooks. They outlive a tool that published versions still call.
create table secrets (
  workspace_id text not null references workspaces (id) on delete cascade,
  kind text not null check (kind in ('tool', 'webhook')),
  -- The tool, or the agent.
  owner_id text not null,
  -- SHA-256 of a header's kind, name and count, or of a webhook's address.
  slot text not null,
  sealed bytea not null,
  updated_at timestamptz not null default now(),
  primary key (kind, owner_id, slot)
);

-- Cloned voices and their reference audio. The audio is apart, so that lists never touch it.

create table voices (
  id text primary key check (id ~ '^[0-9a-f]{32}$'),
  workspace_id text not null references workspaces (id) on delete cascade,
  title text not null,
  description text not null default '',
  tags text[] not null default '{}',
  visibility text not null check (visibility in ('public', 'unlist', 'private')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index voices_workspace on voices (workspace_id, created_at desc, id);

create table voice_references (
  voice_id text not null references voices (id) on delete cascade,
  position integer not null check (position >= 0),
  audio bytea not null,
  -- What the audio says; empty where nobody told.
  transcript text not null default '',
  primary key (voice_id, position)
);

-- Encoded audio does not shrink any more.
alter table voice_references alter column audio set storage external;

-- Every process drops what it keeps of a voice, also when the row is changed by hand.
create function announce_voice() returns trigger language plpgsql as $$
begin
  perform pg_notify('voices', coalesce(new.id, old.id));
  return null;
end $$;

create trigger voices_changed after insert or update or delete on voices
  for each row execute function announce_voice();

-- Agents with their drafts. A configuration is one document: a new field needs no migration.

create table agents (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  position bigint generated always as identity unique,
  name text not null,
  description text not null,
  status text not null default 'active' check (status in ('active', 'archived')),
  public_enabled boolean not null default false,
  allowed_origins text[] not null default '{}',
  overrides_allowed text[] not null default '{}',
  -- The draft, as clients read it; secrets are kept apart.
  config jsonb not null,
  config_updated_at timestamptz not null default now(),
  -- 0 where nothing was published yet.
  last_version integer not null default 0 check (last_version >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index agents_workspace on agents (workspace_id, position desc);

create table tools (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  position bigint generated always as identity unique,
  -- What lists show, out of the definition, which may be large.
  name text not null,
  description text not null,
  tool_type text not null check (tool_type in ('webhook', 'client', 'mcp')),
  method text not null,
  url text not null,
  -- All of the tool but its credentials, as clients read it, and a digest of it.
  definition jsonb not null,
  digest text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index tools_workspace on tools (workspace_id, position desc);

-- Says the same as tools.tool_ids of the drafts; a tool that one refers to cannot go.
create table agent_tools (
  agent_id text not null references agents (id) on delete cascade,
  tool_id text not null references tools (id),
  position integer not null,
  primary key (agent_id, tool_id)
);

create index agent_tools_tool on agent_tools (tool_id);

-- Knowledge: every revision's content, cut into passages that full-text search finds.

create table knowledge_sources (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  position bigint generated always as identity unique,
  name text not null,
  description text not null,
  revision integer not null default 1 check (revision > 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index knowledge_sources_workspace on knowledge_sources (workspace_id, position desc);

-- The newest revision and those that versions pin.
create table knowledge_revisions (
  source_id text not null references knowledge_sources (id) on delete cascade,
  revision integer not null,
  file_name text not null,
  size_bytes integer not null,
  chunk_count integer not null,
  content text not null,
  primary key (source_id, revision)
);

create table knowledge_chunks (
  source_id text not null,
  revision integer not null,
  position integer not null,
  content text not null,
  terms tsvector not null,
  primary key (source_id, revision, position),
  foreign key (source_id, revision) references knowledge_revisions (source_id, revision) on delete cascade
);

create index knowledge_chunks_terms on knowledge_chunks using gin (terms);

-- Says the same as knowledge_base.knowledge_source_ids of the drafts.
create table agent_knowledge (
  agent_id text not null references agents (id) on delete cascade,
  source_id text not null references knowledge_sources (id),
  position integer not null,
  primary key (agent_id, source_id)
);

create index agent_knowledge_source on agent_knowledge (source_id);

-- Published versions: immutable, with the tools as they were and the revisions of knowledge.

create table agent_versions (
  agent_id text not null references agents (id) on delete cascade,
  number integer not null check (number > 0),
  title text,
  description text,
  config jsonb not null,
  config_hash text not null,
  tools jsonb not null,
  tool_ids text[] not null,
  published_at timestamptz not null default now(),
  primary key (agent_id, number)
);

create index agent_versions_tools on agent_versions using gin (tool_ids);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'a published version is immutable';
end $$;

create trigger agent_versions_immutable before update on agent_versions
  for each row execute function refuse_change();

-- A source may be deleted while only older versions pin it, so it is not referenced.
create table version_knowledge (
  agent_id text not null,
  number integer not null,
  source_id text not null,
  revision integer not null,
  position integer not null,
  primary key (agent_id, number, source_id),
  foreign key (agent_id, number) references agent_versions (agent_id, number) on delete cascade
);

create index version_knowledge_source on version_knowledge (source_id, revision);

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

-- Nodes: processes that may own sessions, where the others reach them, what they have room for, and how long each is taken to
-- live without a word. A call whose node is gone is lost, until another node takes it over or its time is up.

create table session_owners (
  process_id text primary key,
  -- Where it takes signalling frames.
  address text not null,
  installation text,
  url text,
  places integer,
  calls integer not null default 0,
  draining boolean not null default false,
  version text not null default '',
  lease_ms integer not null default 45000,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

-- Voice sessions, what was said in them, and which process holds them. An agent's sessions outlive the agent.

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
  direction text check (direction in ('inbound', 'outbound')),
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
  -- JSON; null where there were none.
  prices text,
  -- The LiveKit room, where it is not named after the session: LiveKit's SIP service names those of calls that come in.
  room text,
  -- It has a place for a call from its creation on, as nobody can refuse it later (calls by telephone, in rooms of LiveKit,
  -- of tests). Others have one once they are joined.
  reserved boolean not null default false,
  status text not null default 'pending' check (status in ('pending', 'active', 'completed', 'failed')),
  created_at timestamptz not null default now(),
  -- Until when it may be joined; the token is spent with `joined_at`.
  expires_at timestamptz not null,
  joined_at timestamptz,
  started_at timestamptz,
  -- How long it has lasted up to `measured_at`, as its owner measures it by a clock that nobody sets, and said last.
  measured_ms bigint,
  measured_at timestamptz,
  ended_at timestamptz,
  ended_reason text check (ended_reason in ('hangup', 'timeout', 'ended_by_api', 'error', 'not_joined', 'transferred',
    'llm_endpoint_failure', 'speech_failure', 'transport_lost')),
  max_duration_seconds integer not null,
  -- The process that holds the conversation, and since when that is gone.
  owner_id text,
  lost_at timestamptz,
  analysis text,
  analysis_attempts integer not null default 0,
  -- Null where no analysis waits.
  analysis_due_at timestamptz,
  -- The words that were said, once it has ended; null until they are kept (storage/sessions/said.ts).
  terms tsvector,
  check ((ended_at is null) = (status in ('pending', 'active')))
);

create index sessions_live on sessions (workspace_id, status) where status in ('pending', 'active');
create index sessions_ended on sessions (ended_at) where ended_at is not null;
create index sessions_analysis on sessions (analysis_due_at) where analysis_due_at is not null;
create index sessions_planned on sessions (agent_id, config_hash) where plan is not null;
create index sessions_said on sessions using gin (terms);
create index sessions_unsaid on sessions (ended_at)
  where terms is null and ended_at is not null and source <> 'dashboard';

-- Lists by the moment of creation, newest first, out of indexes alone: a filter's index has the list's order, so that a page is
-- read from where it begins, and the columns of the other filters, so that a total visits no rows.
create index sessions_newest
  on sessions (workspace_id, created_at desc, position desc) include (status, source);
create index sessions_by_agent
  on sessions (workspace_id, agent_id, created_at desc, position desc) include (status) where source <> 'dashboard';
create index sessions_by_status
  on sessions (workspace_id, status, created_at desc, position desc) where source <> 'dashboard';
create index sessions_by_caller
  on sessions (workspace_id, caller_number, created_at desc, position desc) include (status, agent_id, end_user_id)
  where caller_number is not null and source <> 'dashboard';
-- A person whom an agent has called is found by the number that was dialled.
create index sessions_by_dialled on sessions (workspace_id, dialed_number) where direction = 'outbound';
-- Previews too: all sessions of an end user are deleted by it.
create index sessions_by_end_user
  on sessions (workspace_id, end_user_id, created_at desc, position desc) include (status, agent_id, source)
  where end_user_id is not null;

-- A total visits the rows that changed since the last vacuum; by default those may be a fifth of the table.
alter table sessions set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);

-- The owner lets go of the call as soon as the row says that it has ended.
create function announce_session_end() returns trigger language plpgsql as $$
begin
  perform pg_notify('session_ends', new.id);
  return null;
end $$;

create trigger sessions_ended after update of ended_at on sessions
  for each row when (old.ended_at is null and new.ended_at is not null) execute function announce_session_end();

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

-- How long each turn of a conversation took and why, what it used, and the prices of that moment.
create table session_turns (
  session_id text not null references sessions (id) on delete cascade,
  number integer not null,
  turn_id integer not null,
  at timestamptz not null,
  -- JSON of the rest.
  content text not null,
  -- The agent could not answer: lists of calls count these without reading the turns.
  failed boolean not null default false,
  primary key (session_id, number)
);

create index session_turns_failed on session_turns (session_id) where failed;

-- Deliveries: post-call events for account owners' endpoints, a row before it is sent, over a day.

-- Requests to send many of them again, which are worked off in the background.
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

create table deliveries (
  id bigint generated always as identity primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  session_id text not null references sessions (id) on delete cascade,
  agent_id text not null,
  event text not null check (event in ('call.ended', 'call.analyzed', 'phone_call.ended')),
  -- The id of the event in the body; null in rows of earlier releases, as is `created_at`.
  event_id text,
  url text not null,
  body text not null,
  created_at timestamptz default now(),
  attempts integer not null default 0,
  -- Attempts that the plan of attempts counts; one that was made early, since its receiver was back, does not.
  steps integer not null default 0,
  -- The end of the last attempt.
  tried_at timestamptz,
  due_at timestamptz not null default now(),
  -- A process sends it until then.
  taken_until timestamptz,
  -- The last time that it was asked for once more: what failed since then is not tried again.
  redelivered_at timestamptz,
  -- The request because of which it waits; null if it was asked for by itself.
  redelivery_id bigint references redeliveries (id) on delete set null,
  outcome text check (outcome in ('delivered', 'failed')),
  settled_at timestamptz,
  -- The last status, or why there was none.
  note text,
  check ((outcome is null) = (settled_at is null))
);

create index deliveries_due on deliveries (due_at) where settled_at is null;
create index deliveries_oldest on deliveries (created_at) where settled_at is null;
create index deliveries_settled on deliveries (settled_at) where settled_at is not null;
create index deliveries_session on deliveries (session_id);
create index deliveries_workspace on deliveries (workspace_id) where settled_at is null;

-- Workspaces take turns: what of each is due, and what of it is being sent. So do receivers, each an address of which the hash
-- stands for up to 4,000 characters.
create index deliveries_turns on deliveries (workspace_id, due_at) where settled_at is null;
create index deliveries_taken on deliveries (workspace_id) where settled_at is null and taken_until is not null;
create index deliveries_line on deliveries (workspace_id, hashtextextended(url, 0), id) where settled_at is null;
create index deliveries_line_due on deliveries (workspace_id, hashtextextended(url, 0), due_at) where settled_at is null;

-- Lists, newest first; and how often a workspace has asked.
create index deliveries_newest on deliveries (workspace_id, id desc);
create index deliveries_by_agent on deliveries (workspace_id, agent_id, id desc) include (outcome);
create index deliveries_failed on deliveries (workspace_id, id desc) where outcome = 'failed';
create index deliveries_waiting on deliveries (workspace_id, id desc) where settled_at is null;
create index deliveries_redelivered on deliveries (workspace_id, redelivered_at) where redelivered_at is not null;
create index deliveries_of_redelivery on deliveries (redelivery_id) where redelivery_id is not null;
create index deliveries_asked on deliveries (workspace_id, redelivered_at)
  where settled_at is null and redelivered_at is not null and redelivery_id is null;

create function announce_delivery() returns trigger language plpgsql as $$
begin
  notify deliveries;
  return null;
end $$;

create trigger deliveries_added after insert on deliveries for each statement execute function announce_delivery();

-- What came of each attempt.
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

-- A receiver has a row while it fails.
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

-- Recordings: rows and files. A call that another process takes over is recorded in parts: the first lies in `recordings`, the
-- others lie in `recording_parts`, and who reads, changes or deletes that has all of them.
-- A recording may lie in a bucket (RECORDINGS_URL). A gateway of the machine that holds the call puts it there from the
-- machine's files while the call goes on; where that machine dies, another gateway finishes it with what is there.

create table recording_parts (
  session_id text not null references sessions (id) on delete cascade,
  -- From 1 on.
  part integer not null,
  -- The machine with the files.
  host text not null,
  started_at timestamptz not null,
  -- s3://bucket/prefix; null: files of `host`, and nothing else.
  store text,
  -- Since when all of it is in the bucket.
  kept_at timestamptz,
  -- Why it never will be.
  failure text,
  -- The process that uploads it, until then.
  claimed_by text,
  claimed_until timestamptz,
  primary key (session_id, part)
);

create index recording_parts_started on recording_parts (started_at);
create index recording_parts_uploads on recording_parts (store, started_at)
  where store is not null and kept_at is null and failure is null;

create table recordings (
  session_id text primary key references sessions (id) on delete cascade,
  part integer not null default 1
) inherits (recording_parts);

create index recordings_started on recordings (started_at);
create index recordings_uploads on recordings (store, started_at)
  where store is not null and kept_at is null and failure is null;

-- Whatever deletes the row (its session, its workspace), the place that has something to remove is told here, and removes it:
-- a machine, or a bucket, which any gateway empties.
create table deleted_recordings (
  session_id text not null,
  host text not null,
  deleted_at timestamptz not null default now(),
  claimed_until timestamptz,
  primary key (host, session_id)
);

create function note_deleted_recording() returns trigger language plpgsql as $$
declare place text;
begin
  foreach place in array array_remove(array[old.host, old.store], null) loop
    insert into deleted_recordings (session_id, host) values (old.session_id, place)
      on conflict (host, session_id) do update set deleted_at = now(), claimed_until = null;
    perform pg_notify('deleted_recordings', place);
  end loop;
  return null;
end $$;

create trigger recordings_deleted after delete on recordings
  for each row execute function note_deleted_recording();
create trigger recording_parts_deleted after delete on recording_parts
  for each row execute function note_deleted_recording();

-- Telephones: numbers that agents answer, calls that providers have asked about, calls that are placed, and transfers.

create table phone_numbers (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  position bigint generated always as identity unique,
  provider text not null,
  -- E.164, or a SIP address.
  address text not null,
  -- Nobody answers without one.
  agent_id text references agents (id) on delete set null,
  enabled boolean not null,
  -- What the provider's webhooks are verified with.
  sealed bytea not null,
  -- The credentials of the provider's API, JSON by their names. Null: no calls are placed from it.
  sealed_api bytea,
  -- Null: the provider's usual address.
  api_url text,
  -- Part of the number's own address for its provider. Two random ids: 244 bits that nobody can guess.
  token text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  -- Whose it is: a call came to that address, or a placed one was answered, or the operator has decided. Null: not yet.
  proven_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, provider, address)
);

create index phone_numbers_workspace on phone_numbers (workspace_id, position desc);
create index phone_numbers_address on phone_numbers (provider, address);
create index phone_numbers_agent on phone_numbers (agent_id);
create unique index phone_numbers_token on phone_numbers (token);

-- Each is answered once. They go when sessions of that age do.
create table phone_calls (
  number_id text not null references phone_numbers (id) on delete cascade,
  -- The provider's.
  call_id text not null,
  created_at timestamptz not null default now(),
  primary key (number_id, call_id)
);

create index phone_calls_created on phone_calls (created_at);

-- One row a call until its session is removed.
create table placed_calls (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  position bigint generated always as identity unique,
  number_id text references phone_numbers (id) on delete set null,
  provider text not null,
  from_address text not null,
  to_address text not null,
  agent_id text not null,
  -- Null until it is made; the call goes with it.
  session_id text unique references sessions (id) on delete cascade,
  state text not null default 'queued' check (state in
    ('queued', 'ringing', 'answered', 'busy', 'no_answer', 'failed', 'cancelled', 'voicemail', 'ended')),
  -- Why it is in its last state, where the state does not say it.
  reason text,
  answered_by text,
  max_ring_seconds integer not null,
  -- What happens where a machine answers, JSON; null: nothing looks for one.
  voicemail text,
  -- Where its end is told.
  webhooks text[] not null default '{}',
  -- The provider's.
  call_id text,
  idempotency_key text,
  request_digest text,
  created_at timestamptz not null default now(),
  -- The provider has taken it.
  placed_at timestamptz,
  answered_at timestamptz,
  ended_at timestamptz,
  -- A sweep looks at it then.
  due_at timestamptz not null,
  unique (workspace_id, idempotency_key),
  check ((ended_at is null) = (state in ('queued', 'ringing', 'answered')))
);

create index placed_calls_workspace on placed_calls (workspace_id, position desc);
create index placed_calls_due on placed_calls (due_at) where ended_at is null;
create index placed_calls_number on placed_calls (number_id, call_id);

-- Callers who are connected to somebody else: a row a transfer, until its session is removed.
create table phone_transfers (
  id text primary key,
  session_id text not null references sessions (id) on delete cascade,
  number_id text references phone_numbers (id) on delete set null,
  provider text not null,
  -- The caller's call, and the other one where it is ours, as the provider calls them.
  caller_call_id text not null,
  call_id text,
  -- The call of the tool, whose answer the model is told again where the caller comes back.
  tool_call_id text not null,
  mode text not null check (mode in ('cold', 'warm')),
  label text not null,
  to_address text not null,
  state text not null default 'ringing' check (state in
    ('ringing', 'answered', 'accepted', 'connected', 'busy', 'no_answer', 'refused', 'voicemail', 'failed', 'cancelled')),
  -- Why it is in its last state, where the state does not say it.
  reason text,
  -- What the colleague is told, and how, JSON; of warm ones, forgotten with their end.
  briefing text,
  created_at timestamptz not null default now(),
  answered_at timestamptz,
  ended_at timestamptz,
  -- When the caller was back with the agent.
  returned_at timestamptz,
  -- A sweep looks at it then.
  due_at timestamptz not null,
  check ((ended_at is null) = (state in ('ringing', 'answered', 'accepted')))
);

-- One at a time.
create unique index phone_transfers_open on phone_transfers (session_id) where ended_at is null;
create index phone_transfers_session on phone_transfers (session_id, created_at);
create index phone_transfers_due on phone_transfers (due_at) where ended_at is null;

create function announce_transfer() returns trigger language plpgsql as $$
begin
  perform pg_notify('phone_transfers', new.id);
  return null;
end $$;

create trigger phone_transfers_changed after update of state on phone_transfers
  for each row execute function announce_transfer();

-- Tests of agents: scenarios, suites of them, and runs with one row a scenario, which is a place in the queue as well.

create table agent_test_scenarios (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  agent_id text not null references agents (id) on delete cascade,
  position bigint generated always as identity unique,
  name text not null,
  definition jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index agent_test_scenarios_workspace on agent_test_scenarios (workspace_id, position desc);
create index agent_test_scenarios_agent on agent_test_scenarios (agent_id, position);

create table agent_test_suites (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  agent_id text not null references agents (id) on delete cascade,
  position bigint generated always as identity unique,
  name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (agent_id, name)
);

create index agent_test_suites_workspace on agent_test_suites (workspace_id, position desc);

create table agent_test_suite_scenarios (
  suite_id text not null references agent_test_suites (id) on delete cascade,
  scenario_id text not null references agent_test_scenarios (id) on delete cascade,
  place integer not null,
  primary key (suite_id, scenario_id)
);

create index agent_test_suite_scenarios_scenario on agent_test_suite_scenarios (scenario_id);

-- A run outlives its suite and its scenarios, and goes with its agent.
create table agent_test_runs (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  agent_id text not null references agents (id) on delete cascade,
  agent_name text not null,
  position bigint generated always as identity unique,
  suite_id text,
  suite_name text,
  -- Null for the draft.
  version_number integer,
  config_hash text not null,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'passed', 'failed', 'error', 'cancelled')),
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  check ((ended_at is null) = (status in ('queued', 'running')))
);

create index agent_test_runs_workspace on agent_test_runs (workspace_id, position desc);
create index agent_test_runs_agent on agent_test_runs (agent_id, position desc);
create index agent_test_runs_open on agent_test_runs (workspace_id) where ended_at is null;
create index agent_test_runs_ended on agent_test_runs (ended_at) where ended_at is not null;

create table agent_test_results (
  run_id text not null references agent_test_runs (id) on delete cascade,
  place integer not null,
  workspace_id text not null,
  -- Its place in the queue.
  position bigint generated always as identity,
  scenario_id text not null,
  scenario_name text not null,
  definition jsonb not null,
  -- What the agent runs on; null once it is over.
  plan jsonb,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'passed', 'failed', 'error', 'cancelled')),
  attempts integer not null default 0,
  -- Until when the process that plays it has it to itself.
  taken_until timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  -- The call of a scenario by voice, a session which goes with its result; so does its recording.
  session_id text,
  -- JSON: how it went, and what was said.
  outcome text,
  items text,
  primary key (run_id, place)
);

create index agent_test_results_open on agent_test_results (position) where status in ('queued', 'running');
create unique index agent_test_results_scenario on agent_test_results (run_id, scenario_id);

-- A session that is not over yet is left to whoever plays it.
create function remove_session_of_test() returns trigger language plpgsql as $$
begin
  delete from sessions where id = old.session_id and ended_at is not null;
  return null;
end $$;

create trigger agent_test_results_deleted after delete on agent_test_results
  for each row when (old.session_id is not null) execute function remove_session_of_test();
