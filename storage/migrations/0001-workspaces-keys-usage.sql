-- Workspaces with their quotas, API keys (digests only), concurrency leases, monthly usage, settings.

create table workspaces (
  id text primary key,
  name text not null,
  -- Slots of running jobs; null takes the installation's default.
  concurrency integer check (concurrency >= 0),
  -- Quotas a month; null is no quota.
  synthesis_characters bigint check (synthesis_characters >= 0),
  transcription_ms bigint check (transcription_ms >= 0),
  conversation_ms bigint check (conversation_ms >= 0),
  created_at timestamptz not null default now()
);

create table settings (
  name text primary key,
  value text not null
);

create table api_keys (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  name text not null,
  -- Where it came from: the first start, API_KEY, or the keys command.
  origin text not null check (origin in ('first', 'environment', 'command')),
  digest bytea not null unique check (octet_length(digest) = 32),
  -- The key's last characters, to tell keys apart in a list.
  tail text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);

create index api_keys_workspace on api_keys (workspace_id);

-- Every process drops what it knows of a key, also when the row is changed by hand.
create function announce_api_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_keys', coalesce(new.id, old.id));
  return null;
end $$;

create trigger api_keys_changed after insert or update or delete on api_keys
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
