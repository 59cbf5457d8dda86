-- How long a call has lasted, as its owner measures it by a clock that nobody sets: up to `measured_at`, when it said so last.
-- Null for calls of the previous release.

alter table sessions
  add column measured_ms bigint,
  add column measured_at timestamptz;

-- A process of the previous release measures nothing: a call that it takes over has the times of its row again.
create function forget_measured() returns trigger language plpgsql as $$
begin
  if not exists (select from session_owners where process_id = new.owner_id and shares_plans) then
    new.measured_ms := null;
    new.measured_at := null;
  end if;
  return new;
end $$;

create trigger sessions_measured_forgotten before update of owner_id on sessions
  for each row when (new.owner_id is distinct from old.owner_id and new.owner_id is not null and new.measured_ms is not null)
  execute function forget_measured();
