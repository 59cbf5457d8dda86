-- Calls at once are counted by themselves, no longer as jobs: a workspace's number (null: the installation's), and the sessions
-- that have a place for a call from their creation on, as nobody can refuse them later (calls by telephone, in rooms of
-- LiveKit, of tests). Others have one once they are joined.

alter table workspaces add column calls integer check (calls >= 0);
alter table sessions add column reserved boolean not null default false;
