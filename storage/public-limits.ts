/**
 * Rate limits of sessions without a key (docs/contract/platform.md 6.10): fixed windows of one minute by the database's
 * clock, per client address and per agent, in one row each that all processes share.
 */
import type { FullLimit, PublicLimits } from '../contracts/ports/sessions/public-limits.js';
import type { Sql } from './postgres/sql.js';

export interface PublicLimitOptions {
  readonly sql: Sql;
  /** Sessions a minute. */
  readonly perAddress: number;
  readonly perAgent: number;
}

/** Counts one, unless the minute is full. */
const count = (sql: Sql, kind: 'address' | 'agent', subject: string, most: number) => sql<
  { taken: number }[]
>`
  insert into public_limits as l (kind, subject, minute, taken)
  select ${kind}, ${subject}, date_trunc('minute', now()), 1 where ${most} > 0
  on conflict (kind, subject) do update set
    minute = excluded.minute,
    taken = case when l.minute = excluded.minute then l.taken + 1 else 1 end
  where l.minute <> excluded.minute or l.taken < ${most}
  returning taken`;

async function secondsLeft(sql: Sql): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from date_trunc('minute', clock_timestamp()) + interval '1 minute' - clock_timestamp()))::int
      as seconds`;
  return Math.max(1, row?.seconds ?? 1);
}

/** The exceeded limit; the address is checked first. */
async function fullOne(
  { sql, perAddress, perAgent }: PublicLimitOptions,
  address: string,
  agentId: string,
): Promise<FullLimit['full'] | undefined> {
  const [row] = await sql<{ kind: FullLimit['full'] }[]>`
    select w.kind
    from (values ('address', ${address}::text, ${perAddress}::int), ('agent', ${agentId}::text, ${perAgent}::int))
      as w (kind, subject, most)
    left join public_limits l
      on l.kind = w.kind and l.subject = w.subject and l.minute = date_trunc('minute', now())
    where coalesce(l.taken, 0) >= w.most order by w.kind limit 1`;
  return row?.kind;
}

export const createPublicLimits = ({ sql, perAddress, perAgent }: PublicLimitOptions): PublicLimits => ({
  async full(address, agentId) {
    const full = await fullOne({ sql, perAddress, perAgent }, address, agentId);
    return full && { full, retryAfter: await secondsLeft(sql) };
  },
  async take(address, agentId) {
    const own = await count(sql, 'address', address, perAddress);
    if (own.length === 0) return { full: 'address', retryAfter: await secondsLeft(sql) };
    const agent = await count(sql, 'agent', agentId, perAgent);
    if (agent.length === 0) return { full: 'agent', retryAfter: await secondsLeft(sql) };
    return undefined;
  },
});
