-- Keys that see the figures of all workspaces and nothing else. The previous release lets them do nothing.

alter table api_keys drop constraint api_keys_role_check;
alter table api_keys add constraint api_keys_role_check
  check (role in ('full', 'speech', 'sessions', 'read', 'machine')) not valid;
