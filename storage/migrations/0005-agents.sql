-- Agents with their drafts. A configuration is one document: a new field needs no migration.

create table agents (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  -- Their place in lists, newest first.
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
