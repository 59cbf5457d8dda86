-- Calls whose transport died under them: a LiveKit server, a media worker, a telephone provider's stream.

alter table sessions drop constraint sessions_ended_reason_check;
alter table sessions add constraint sessions_ended_reason_check
  check (ended_reason in ('hangup', 'timeout', 'ended_by_api', 'error', 'not_joined', 'transferred', 'transport_lost')) not valid;
