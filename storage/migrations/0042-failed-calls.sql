-- Calls that end because answers failed in a row, or whose transport was lost.

alter table sessions drop constraint sessions_ended_reason_check;
alter table sessions add constraint sessions_ended_reason_check
  check (ended_reason in ('hangup', 'timeout', 'ended_by_api', 'error', 'not_joined', 'transferred',
    'llm_endpoint_failure', 'speech_failure', 'transport_lost')) not valid;
