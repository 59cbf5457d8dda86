-- Calls that are kept, and where: the audio lies in the data folder of a machine, and says itself how far it goes.

create table recordings (
  session_id text primary key references sessions (id) on delete cascade,
  host text not null,
  started_at timestamptz not null
);
