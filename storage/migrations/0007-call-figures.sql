-- Figures of ended calls, by the hour (UTC) of their end: sums that outlive the calls themselves (STATS_DAYS). A row for each agent,
-- version, kind of call, reason of the end and currency, so that any of them can be asked for.
create table call_figures (
  workspace_id text not null references workspaces (id) on delete cascade,
  hour timestamptz not null,
  agent_id text not null,
  -- 0: a draft.
  version_number integer not null,
  kind text not null,
  ended_reason text not null,
  -- False: nobody was connected.
  connected boolean not null,
  -- Empty without prices.
  currency text not null,
  calls integer not null,
  answers integer not null,
  failed_answers integer not null,
  tools integer not null,
  failed_tools integer not null,
  words_user integer not null,
  words_agent integer not null,
  call_ms bigint not null,
  cost double precision not null,
  -- How many answers took how long: contracts/sessions/latency-counts.ts.
  latencies integer[] not null,
  primary key (workspace_id, hour, agent_id, version_number, kind, ended_reason, connected, currency)
);

create index call_figures_hour on call_figures (hour);
