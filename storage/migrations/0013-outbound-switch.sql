-- Placing calls can be turned off for a workspace. The previous release does not look at it.
alter table workspaces add column outbound_disabled boolean not null default false;

create or replace function audit_limits() returns trigger language plpgsql as $$
begin
  insert into audit_entries (workspace_id, action, subject_id, subject_name, fields)
  values (new.id, 'workspace.limited', new.id, new.name, array_remove(array[
    case when new.concurrency is distinct from old.concurrency then 'concurrency' end,
    case when new.calls is distinct from old.calls then 'calls' end,
    case when new.synthesis_characters is distinct from old.synthesis_characters then 'synthesis_characters' end,
    case when new.transcription_ms is distinct from old.transcription_ms then 'transcription_ms' end,
    case when new.conversation_ms is distinct from old.conversation_ms then 'conversation_ms' end,
    case when new.outbound_disabled is distinct from old.outbound_disabled then 'outbound_disabled' end], null));
  return null;
end $$;

drop trigger workspaces_limited on workspaces;
create trigger workspaces_limited after update of concurrency, calls, synthesis_characters, transcription_ms, conversation_ms,
  outbound_disabled on workspaces for each row
  when ((old.concurrency, old.calls, old.synthesis_characters, old.transcription_ms, old.conversation_ms, old.outbound_disabled)
    is distinct from
    (new.concurrency, new.calls, new.synthesis_characters, new.transcription_ms, new.conversation_ms, new.outbound_disabled))
  execute function audit_limits();
