-- Search in what was said: the words of each session that has ended, null until they are kept (storage/sessions/said.ts).
-- Both indexes are quick to make: no session has words yet. The one that the search needs may be there already, as in 0017.

alter table sessions add column terms tsvector;

create index if not exists sessions_said on sessions using gin (terms);
create index if not exists sessions_unsaid on sessions (ended_at)
  where terms is null and ended_at is not null and source <> 'dashboard';
