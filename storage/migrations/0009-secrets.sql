-- Credentials of tools and signing secrets of webhooks, sealed (AES-256-GCM). They outlive a tool that published
-- versions still call.

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
