-- Single-use tokens of protocol B. Digests only; a row goes when it is used or has expired.

create table single_use_tokens (
  digest bytea primary key check (octet_length(digest) = 32),
  workspace_id text not null references workspaces (id) on delete cascade,
  key_id text not null references api_keys (id) on delete cascade,
  kind text not null,
  expires_at timestamptz not null
);

create index single_use_tokens_workspace on single_use_tokens (workspace_id, expires_at);
create index single_use_tokens_expiry on single_use_tokens (expires_at);
