-- The account with which calls to a number of `sip` authenticate (digest), JSON; null: none is asked for. The previous release does
-- not know it: where a number has no addresses beside it, `sealed` holds one from which no call comes.
alter table phone_numbers add column sealed_inbound bytea;
