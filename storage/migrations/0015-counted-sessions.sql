-- Totals of lists without a filter, and by status, read every session that they count. The indexes of lists hold the moment and the
-- position of each, so no two entries are alike; here all entries of a status are, and Postgres keeps those as one list.
create index sessions_counted on sessions (workspace_id, status) where source <> 'dashboard' and status <> 'pending';
