-- How long each turn of a conversation took and why, what it used, and the prices of that moment.

create table session_turns (
  session_id text not null references sessions (id) on delete cascade,
  number integer not null,
  turn_id integer not null,
  at timestamptz not null,
  -- JSON of the rest.
  content text not null,
  primary key (session_id, number)
);

-- JSON; null where there were none.
alter table sessions add column prices text;
