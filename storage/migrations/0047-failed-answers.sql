-- Turns in which the agent could not answer: lists of calls count them without reading the turns.

alter table session_turns add column failed boolean not null default false;
create index session_turns_failed on session_turns (session_id) where failed;
