-- The LiveKit room of a session, where it is not named after it: its SIP service names those of calls that come in.

alter table sessions add column room text;
