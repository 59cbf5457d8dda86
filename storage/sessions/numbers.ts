/**
 * The telephone numbers of sessions. Columns say who rang (`caller_number`) and who was rung (`dialed_number`); everything
 * else asks who the person is and which number is the workspace's (contracts/phone/phone.ts), whoever rang. Here one becomes
 * the other, so that the previous release can go on writing and reading the same rows.
 */
import type { PhoneLeg } from '../../contracts/phone/phone.js';
import type { Sql, Transaction } from '../postgres/sql.js';

/** The person's number. As the index `sessions_by_person` has it; needs the sessions as `s`. */
export const personsNumber = (sql: Sql | Transaction) => sql`
  (case when s.direction = 'outbound' then s.dialed_number else s.caller_number end)`;

/** The workspace's number. Needs the sessions as `s`. */
export const ownNumber = (sql: Sql | Transaction) => sql`
  (case when s.direction = 'outbound' then s.caller_number else s.dialed_number end)`;

/** The columns of a new session. */
export function numberColumns(leg: PhoneLeg | undefined) {
  const { callerNumber: person = null, dialedNumber: own = null, direction = null } = leg ?? {};
  const [caller, dialled] = direction === 'outbound' ? [own, person] : [person, own];
  return { caller, dialled, direction };
}
