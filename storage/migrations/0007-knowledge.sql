-- Knowledge sources: every revision's content, cut into passages that full-text search finds.

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
