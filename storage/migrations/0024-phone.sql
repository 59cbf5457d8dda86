-- Phone numbers that agents answer, and the calls that providers have asked about: each is answered once.

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
  -- What the provider's webhooks are verified with. Not in `secrets`: the previous release would take it for an orphan.
  sealed bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, provider, address)
);

create index phone_numbers_workspace on phone_numbers (workspace_id, position desc);
create index phone_numbers_address on phone_numbers (provider, address);
create index phone_numbers_agent on phone_numbers (agent_id);

create table phone_calls (
  number_id text not null references phone_numbers (id) on delete cascade,
  -- The provider's.
  call_id text not null,
  created_at timestamptz not null default now(),
  primary key (number_id, call_id)
);

alter table sessions add column direction text check (direction in ('inbound', 'outbound'));
