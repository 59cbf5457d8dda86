-- Keys have a role, may expire, and tell when they were last used. Keys from before may do everything.

alter table api_keys
  add column role text not null default 'full' check (role in ('full', 'speech', 'sessions', 'read')),
  add column expires_at timestamptz,
  -- To the minute.
  add column last_used_at timestamptz;

-- Being used changes nothing of what processes know of a key.
drop trigger api_keys_changed on api_keys;

create trigger api_keys_changed
  after insert or delete or update of id, workspace_id, digest, role, expires_at, revoked_at on api_keys
  for each row execute function announce_api_key();
