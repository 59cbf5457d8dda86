-- A recording is a row and files. Whatever deletes the row (its session, its workspace), the machine that has the files
-- is told here, and removes them.

create table deleted_recordings (
  session_id text not null,
  host text not null,
  deleted_at timestamptz not null default now(),
  primary key (host, session_id)
);

create function note_deleted_recording() returns trigger language plpgsql as $$
begin
  insert into deleted_recordings (session_id, host) values (old.session_id, old.host)
    on conflict (host, session_id) do update set deleted_at = now();
  perform pg_notify('deleted_recordings', old.host);
  return null;
end $$;

create trigger recordings_deleted after delete on recordings
  for each row execute function note_deleted_recording();
