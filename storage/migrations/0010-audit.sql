-- Who did what, and from where (AUDIT_DAYS). Names and ids, never a value that was sent.
create table audit_entries (
  id bigint generated always as identity primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  at timestamptz not null default now(),
  -- The same was done so often up to then.
  last_at timestamptz not null default now(),
  count integer not null default 1,
  action text not null,
  subject_id text,
  subject_name text,
  detail text,
  -- Null: an operator, by a command.
  key_id text,
  key_name text,
  address text,
  -- Names of what was sent.
  fields text[] not null default '{}'
);

create index audit_entries_newest on audit_entries (workspace_id, id desc);
create index audit_entries_subject on audit_entries (workspace_id, subject_id, id desc) where subject_id is not null;
create index audit_entries_at on audit_entries (last_at);

-- Keys and limits are changed by commands, by starts, and by hand: the rows themselves are what all of these share.
create function audit_key() returns trigger language plpgsql as $$
begin
  insert into audit_entries (workspace_id, action, subject_id, subject_name, detail)
  values (new.workspace_id, case when tg_op = 'INSERT' then 'key.created' else 'key.revoked' end, new.id, new.name, new.role);
  return null;
end $$;

create trigger api_keys_made after insert on api_keys for each row execute function audit_key();
create trigger api_keys_revoked after update of revoked_at on api_keys
  for each row when (old.revoked_at is null and new.revoked_at is not null) execute function audit_key();

create function audit_limits() returns trigger language plpgsql as $$
begin
  insert into audit_entries (workspace_id, action, subject_id, subject_name, fields)
  values (new.id, 'workspace.limited', new.id, new.name, array_remove(array[
    case when new.concurrency is distinct from old.concurrency then 'concurrency' end,
    case when new.calls is distinct from old.calls then 'calls' end,
    case when new.synthesis_characters is distinct from old.synthesis_characters then 'synthesis_characters' end,
    case when new.transcription_ms is distinct from old.transcription_ms then 'transcription_ms' end,
    case when new.conversation_ms is distinct from old.conversation_ms then 'conversation_ms' end], null));
  return null;
end $$;

create trigger workspaces_limited after update of concurrency, calls, synthesis_characters, transcription_ms, conversation_ms
  on workspaces for each row
  when ((old.concurrency, old.calls, old.synthesis_characters, old.transcription_ms, old.conversation_ms)
    is distinct from (new.concurrency, new.calls, new.synthesis_characters, new.transcription_ms, new.conversation_ms))
  execute function audit_limits();
