/**
 * Rate limits of public (keyless) sessions, per IP address and per agent (docs/contract/platform.md 6.10): fixed windows of
 * one minute by the database's clock, in one row each that all processes share.
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

type Subject = readonly [kind: FullLimit['full'], subject: string, most: number];

/** The first of the limits that is exceeded. */
async function exceeded(sql: Sql, subjects: readonly Subject[]): Promise<FullLimit | undefined> {
  const [kinds, names, mosts] = [0, 1, 2].map((at) => subjects.map((subject) => String(subject[at])));
  const [row] = await sql<{ full: FullLimit['full'] }[]>`
    select w.kind as full
    from unnest(${kinds!}::text[], ${names!}::text[], ${mosts!}::int[]) with ordinality as w (kind, subject, most, place)
    left join public_limits l
      on l.kind = w.kind and l.subject = w.subject and l.minute = date_trunc('minute', now())
    where coalesce(l.taken, 0) >= w.most order by w.place limit 1`;
  return row && { ...row, retryAfter: await secondsLeft(sql) };
}

export const createPublicLimits = ({ sql, perAddress, perAgent }: PublicLimitOptions): PublicLimits => ({
  full: (address, agentId) =>
    exceeded(sql, [
      ['address', address, perAddress],
      ['agent', agentId, perAgent],
    ]),
  fullAddress: (address) => exceeded(sql, [['address', address, perAddress]]),
  async countSession(address, agentId) {
    const own = await count(sql, 'address', address, perAddress);
    if (own.length === 0) return { full: 'address', retryAfter: await secondsLeft(sql) };
    const agent = await count(sql, 'agent', agentId, perAgent);
    if (agent.length === 0) return { full: 'agent', retryAfter: await secondsLeft(sql) };
    return undefined;
  },
});
