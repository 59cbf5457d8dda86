-- Whose a phone number is: each has an address of its own for its provider, and a time since which it was proven.

alter table phone_numbers
  -- Part of that address. Two random ids: 244 bits that nobody can guess.
  add column token text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  -- A call came to that address, or a placed one was answered, or the operator has decided. Null: not yet.
  add column proven_at timestamptz;

create unique index phone_numbers_token on phone_numbers (token);

-- Numbers that are in use, and that nobody else has registered, go on as they are.
update phone_numbers p set proven_at = now()
where exists (select from phone_calls c where c.number_id = p.id)
  and not exists (
    select from phone_numbers o where o.provider = p.provider and o.address = p.address and o.id <> p.id);
