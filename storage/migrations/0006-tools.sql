-- Tools of a workspace, and which drafts have them attached.

create table tools (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  position bigint generated always as identity unique,
  -- What lists show, out of the definition, which may be large.
  name text not null,
  description text not null,
  tool_type text not null check (tool_type in ('webhook', 'client')),
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
