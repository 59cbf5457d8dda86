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
  -- JSON: how it went, and what was said.
  outcome text,
  items text,
  primary key (run_id, place)
);

create index agent_test_results_open on agent_test_results (position) where status in ('queued', 'running');
create unique index agent_test_results_scenario on agent_test_results (run_id, scenario_id);
