-- Callers who are connected to somebody else: a row a transfer, until its session is removed.

create table phone_transfers (
  id text primary key,
  session_id text not null references sessions (id) on delete cascade,
  number_id text references phone_numbers (id) on delete set null,
  provider text not null,
  -- The caller's call, and the other one where it is ours, as the provider calls them.
  caller_call_id text not null,
  call_id text,
  -- The call of the tool, whose answer the model is told again where the caller comes back.
  tool_call_id text not null,
  mode text not null check (mode in ('cold', 'warm')),
  label text not null,
  to_address text not null,
  state text not null default 'ringing' check (state in
    ('ringing', 'answered', 'accepted', 'connected', 'busy', 'no_answer', 'refused', 'voicemail', 'failed', 'cancelled')),
  -- Why it is in its last state, where the state does not say it.
  reason text,
  -- What the colleague is told, and how, JSON; of warm ones, forgotten with their end.
  briefing text,
  created_at timestamptz not null default now(),
  answered_at timestamptz,
  ended_at timestamptz,
  -- When the caller was back with the agent.
  returned_at timestamptz,
  -- A sweep looks at it then.
  due_at timestamptz not null,
  check ((ended_at is null) = (state in ('ringing', 'answered', 'accepted')))
);

-- One at a time.
create unique index phone_transfers_open on phone_transfers (session_id) where ended_at is null;
create index phone_transfers_session on phone_transfers (session_id, created_at);
create index phone_transfers_due on phone_transfers (due_at) where ended_at is null;

create function announce_transfer() returns trigger language plpgsql as $$
begin
  perform pg_notify('phone_transfers', new.id);
  return null;
end $$;

create trigger phone_transfers_changed after update of state on phone_transfers
  for each row execute function announce_transfer();

alter table sessions drop constraint sessions_ended_reason_check;
alter table sessions add constraint sessions_ended_reason_check
  check (ended_reason in ('hangup', 'timeout', 'ended_by_api', 'error', 'not_joined', 'transferred')) not valid;
