-- Cloned voices and their reference audio. The audio is apart, so that lists never touch it.

create table voices (
  id text primary key check (id ~ '^[0-9a-f]{32}$'),
  workspace_id text not null references workspaces (id) on delete cascade,
  title text not null,
  description text not null default '',
  tags text[] not null default '{}',
  visibility text not null check (visibility in ('public', 'unlist', 'private')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index voices_workspace on voices (workspace_id, created_at desc, id);

create table voice_references (
  voice_id text not null references voices (id) on delete cascade,
  position integer not null check (position >= 0),
  audio bytea not null,
  -- What the audio says; empty where nobody told.
  transcript text not null default '',
  primary key (voice_id, position)
);

-- Encoded audio does not shrink any more.
alter table voice_references alter column audio set storage external;

-- Every process drops what it keeps of a voice, also when the row is changed by hand.
create function announce_voice() returns trigger language plpgsql as $$
begin
  perform pg_notify('voices', coalesce(new.id, old.id));
  return null;
end $$;

create trigger voices_changed after insert or update or delete on voices
  for each row execute function announce_voice();
