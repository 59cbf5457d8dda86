-- Workspaces take turns in the outbox: what of each is due, and what of it is being sent.

create index deliveries_turns on deliveries (workspace_id, due_at) where settled_at is null;
create index deliveries_taken on deliveries (workspace_id) where settled_at is null and taken_until is not null;
