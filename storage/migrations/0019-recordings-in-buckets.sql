-- A recording may lie in a bucket (RECORDINGS_URL). A gateway of the machine that holds the call puts it there from the
-- machine's files while the call goes on; where that machine dies, another gateway finishes it with what is there.

alter table recordings
  -- s3://bucket/prefix; null: files of `host`, and nothing else.
  add column store text,
  -- Since when all of it is in the bucket.
  add column kept_at timestamptz,
  -- Why it never will be.
  add column failure text,
  -- The process that uploads it, until then.
  add column claimed_by text,
  add column claimed_until timestamptz;

create index recordings_uploads on recordings (store, started_at)
  where store is not null and kept_at is null and failure is null;

-- `host` is the place that has something to remove: a machine, or a bucket, which any gateway empties.
alter table deleted_recordings add column claimed_until timestamptz;

create or replace function note_deleted_recording() returns trigger language plpgsql as $$
declare place text;
begin
  foreach place in array array_remove(array[old.host, old.store], null) loop
    insert into deleted_recordings (session_id, host) values (old.session_id, place)
      on conflict (host, session_id) do update set deleted_at = now(), claimed_until = null;
    perform pg_notify('deleted_recordings', place);
  end loop;
  return null;
end $$;
