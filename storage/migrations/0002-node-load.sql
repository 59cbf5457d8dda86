-- How each node's machine is loaded, and what one more call takes of it, in shares of the machine. Null: an older release, which does
-- not tell.

alter table session_owners add column load real, add column call_cost real;
