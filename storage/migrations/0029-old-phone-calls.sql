-- Calls that providers have asked about go when sessions of that age do.

create index phone_calls_created on phone_calls (created_at);
