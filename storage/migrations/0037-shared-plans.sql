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

create index sessions_planned on sessions (agent_id, config_hash) where plan is not null;

-- A process of the previous release knows plans with their tools in them only, so it gets them that way.
alter table session_owners add column shares_plans boolean not null default false;

create function copy_plan_tools() returns trigger language plpgsql as $$
begin
  if not new.plan ? 'tools' and not exists (
    select from session_owners where process_id = new.owner_id and shares_plans) then
    new.plan := new.plan || jsonb_build_object('tools', (
      select coalesce(jsonb_agg(
        jsonb_build_object('toolId', tool_id, 'functionName', function_name, 'definition', definition) order by place), '[]')
      from plan_tools where agent_id = new.agent_id and config_hash = new.config_hash));
  end if;
  return new;
end $$;

create trigger sessions_plan_copied before update of owner_id on sessions
  for each row when (new.owner_id is distinct from old.owner_id and new.owner_id is not null and new.plan is not null)
  execute function copy_plan_tools();
