-- A call that another process takes over is recorded in parts. The first lies in `recordings`, where the previous release
-- looks for it; the others lie here. Who reads, changes or deletes `recording_parts` has all of them.

create table recording_parts (
  session_id text not null references sessions (id) on delete cascade,
  -- From 1 on.
  part integer not null,
  host text not null,
  started_at timestamptz not null,
  store text,
  kept_at timestamptz,
  failure text,
  claimed_by text,
  claimed_until timestamptz,
  primary key (session_id, part)
);

alter table recordings add column part integer not null default 1;
alter table recordings inherit recording_parts;

create index recording_parts_started on recording_parts (started_at);

create index recording_parts_uploads on recording_parts (store, started_at)
  where store is not null and kept_at is null and failure is null;

create trigger recording_parts_deleted after delete on recording_parts
  for each row execute function note_deleted_recording();
