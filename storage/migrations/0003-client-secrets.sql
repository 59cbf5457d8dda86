-- Client secrets: short-lived keys for realtime sockets. Digests only; an expired row is removed.

create table client_secrets (
  digest bytea primary key check (octet_length(digest) = 32),
  workspace_id text not null references workspaces (id) on delete cascade,
  key_id text not null references api_keys (id) on delete cascade,
  -- As it came: jsonb refuses characters that JSON may hold.
  session json not null,
  expires_at timestamptz not null,
  -- The socket that uses it, and until when it does unless its process says so again.
  held_by uuid,
  held_until timestamptz,
  check ((held_by is null) = (held_until is null))
);

create index client_secrets_workspace on client_secrets (workspace_id, expires_at);
create index client_secrets_expiry on client_secrets (expires_at);
