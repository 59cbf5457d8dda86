-- Keys of agents' own language models, in a table of the same form as `secrets`: the previous release removes what it does not know there.
create table model_keys (
  workspace_id text not null references workspaces (id) on delete cascade,
  kind text not null check (kind = 'model'),
  -- The agent.
  owner_id text not null,
  -- SHA-256 of the model's address.
  slot text not null,
  sealed bytea not null,
  updated_at timestamptz not null default now(),
  primary key (kind, owner_id, slot)
);

-- Lines of a conversation's record that the previous release does not know, in a table of the same form as `session_items`.
create table session_events (
  session_id text not null references sessions (id) on delete cascade,
  position bigint generated always as identity,
  type text not null check (type in ('llm.endpoint_error')),
  turn_id integer not null,
  created_at timestamptz not null,
  -- JSON of the rest.
  content text not null,
  primary key (session_id, position)
);
