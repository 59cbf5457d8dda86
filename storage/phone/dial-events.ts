/**
 * The event that tells how the dialling of a placed call came out (`phone_call.dial_finished`). Whoever settles it tells it, in any
 * process: the call's row says whether it was told, so it is told once, also after a takeover.
 */
import { LIMITS } from '../../contracts/limits.js';
import { dialFinishedBody } from '../../contracts/sessions/post-call.js';
import { addDeliveries } from '../deliveries.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { columns, recordOf, type Row } from '../sessions/rows.js';

/** When it is told. Needs the calls as `c` and their sessions as `s`. */
const WHEN = {
  /** Somebody talks with the agent, and whether it is a machine is known or not asked. */
  settled: (sql: Sql | Transaction) => sql`
    c.state = 'answered' and s.status = 'active' and (c.voicemail is null or c.answered_by is not null)`,
  /** The session ends: at the latest now, if somebody had answered. */
  session_ends: (sql: Sql | Transaction) => sql`c.answered_at is not null`,
  /** The call has ended. */
  over: (sql: Sql | Transaction) => sql`c.ended_at is not null`,
} as const;

type Told = Row & { readonly webhooks: readonly string[] };

async function deliver(tx: Transaction, { webhooks: urls, ...row }: Told): Promise<void> {
  const record = recordOf(row);
  if (urls.length === 0) return;
  const body = (eventId: string): string => dialFinishedBody(eventId, record);
  await addDeliveries(tx, { record, event: 'phone_call.dial_finished', urls, body });
}

/** Tells it of the session's call, if it is time and it was not told before. Part of the transaction that makes it so. */
export async function tellDialled(
  tx: Transaction,
  sessionId: string,
  when: keyof typeof WHEN,
): Promise<void> {
  const [row] = await tx<Told[]>`
    update placed_calls c set dial_told_at = now() from sessions s
    where c.session_id = ${sessionId} and s.id = c.session_id and c.dial_told_at is null and ${WHEN[when](tx)}
    returning ${columns(tx)}, c.webhooks`;
  if (row) await deliver(tx, row);
}

/** The same where nothing else is to be done. */
export const tellSettled = (sql: Sql, sessionId: string) =>
  sql.begin((tx) => tellDialled(tx, sessionId, 'settled'));

const AT_ONCE = 50;

/** Tells it of answered calls about which the provider has not reported in time who has answered. */
export const tellLate = (sql: Sql) =>
  sql.begin(async (tx) => {
    const rows = await tx<Told[]>`
      update placed_calls c set dial_told_at = now() from sessions s
      where s.id = c.session_id and c.id in (
        select l.id from placed_calls l
        where l.ended_at is null and l.dial_told_at is null
          and l.answered_at <= now() - ${LIMITS.phone.detectionMs}::int * interval '1 millisecond'
        order by l.answered_at limit ${AT_ONCE} for update skip locked)
      returning ${columns(tx)}, c.webhooks`;
    for (const row of rows) await deliver(tx, row);
  });
