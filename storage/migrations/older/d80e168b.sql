-- From the database of commit d80e168b to 0001-schema.sql: without what processes of the release before it needed.

drop trigger sessions_plan_copied on sessions;
drop trigger sessions_measured_forgotten on sessions;
drop function copy_plan_tools(), forget_measured();
alter table session_owners drop column shares_plans;

alter table api_keys validate constraint api_keys_role_check;
alter table sessions validate constraint sessions_ended_reason_check;
