-- How long a call has lasted, as its owner measures it by a clock that nobody sets: up to `measured_at`, when it said so last.
-- Null for calls of the previous release.

alter table sessions
  add column measured_ms bigint,
  add column measured_at timestamptz;
