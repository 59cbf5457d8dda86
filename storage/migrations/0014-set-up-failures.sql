-- Why calls of a number do not come yet: the service that has to know it beforehand has not taken it. Null: it has.
alter table phone_numbers add column set_up_failure text;
