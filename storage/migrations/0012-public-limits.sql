-- How many sessions were asked for without a key in the minute that runs, per client address and per agent.

create table public_limits (
  kind text not null check (kind in ('address', 'agent')),
  subject text not null,
  minute timestamptz not null,
  taken integer not null,
  primary key (kind, subject)
);

create index public_limits_minute on public_limits (minute);
