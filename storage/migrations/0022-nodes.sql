-- A process that may own sessions is a node: where the others reach it, what it has room for, and how long it is taken to
-- live without a word (a version before this one says so every 15 seconds). A call whose node is gone is lost, until
-- another node takes it over or its time is up.

alter table session_owners
  add column installation text,
  add column url text,
  add column places integer,
  add column calls integer not null default 0,
  add column draining boolean not null default false,
  add column version text not null default '',
  add column lease_ms integer not null default 45000,
  add column started_at timestamptz not null default now();

alter table sessions add column lost_at timestamptz;
