-- The call of a scenario by voice is a session, which goes with its result; so does its recording. One that is not over
-- yet is left to whoever plays it.
alter table agent_test_results add column session_id text;

create function remove_session_of_test() returns trigger language plpgsql as $$
begin
  delete from sessions where id = old.session_id and ended_at is not null;
  return null;
end $$;

create trigger agent_test_results_deleted after delete on agent_test_results
  for each row when (old.session_id is not null) execute function remove_session_of_test();
