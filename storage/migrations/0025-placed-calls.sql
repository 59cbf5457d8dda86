-- Calls that are placed: what a number's provider is asked with, and one row a call until its session is removed.

alter table phone_numbers
  -- Sealed like `sealed`: the credentials of the provider's API, JSON by their names. Null: no calls are placed from it.
  add column sealed_api bytea,
  -- Null: the provider's usual address.
  add column api_url text;

create table placed_calls (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  position bigint generated always as identity unique,
  number_id text references phone_numbers (id) on delete set null,
  provider text not null,
  from_address text not null,
  to_address text not null,
  agent_id text not null,
  -- Null until it is made; the call goes with it.
  session_id text unique references sessions (id) on delete cascade,
  state text not null default 'queued' check (state in
    ('queued', 'ringing', 'answered', 'busy', 'no_answer', 'failed', 'cancelled', 'voicemail', 'ended')),
  -- Why it is in its last state, where the state does not say it.
  reason text,
  answered_by text,
  max_ring_seconds integer not null,
  -- What happens where a machine answers, JSON; null: nothing looks for one.
  voicemail text,
  -- Where its end is told.
  webhooks text[] not null default '{}',
  -- The provider's.
  call_id text,
  idempotency_key text,
  request_digest text,
  created_at timestamptz not null default now(),
  -- The provider has taken it.
  placed_at timestamptz,
  answered_at timestamptz,
  ended_at timestamptz,
  -- A sweep looks at it then.
  due_at timestamptz not null,
  unique (workspace_id, idempotency_key),
  check ((ended_at is null) = (state in ('queued', 'ringing', 'answered')))
);

create index placed_calls_workspace on placed_calls (workspace_id, position desc);
create index placed_calls_due on placed_calls (due_at) where ended_at is null;
create index placed_calls_number on placed_calls (number_id, call_id);

-- A person whom an agent has called is found by the number that was dialled.
create index sessions_by_dialled on sessions (workspace_id, dialed_number) where direction = 'outbound';

alter table deliveries drop constraint deliveries_event_check,
  add constraint deliveries_event_check check (event in ('call.ended', 'call.analyzed', 'phone_call.ended'));
