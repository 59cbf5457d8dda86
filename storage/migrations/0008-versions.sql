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
