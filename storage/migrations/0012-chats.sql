-- Sources are those of contracts/ports/sessions/sessions.ts, which grow: `chat` is one now. The previous release reads it as any other.
alter table sessions drop constraint sessions_source_check;
