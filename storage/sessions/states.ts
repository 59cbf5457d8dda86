/** The states of sessions (contracts/sessions/session-states.ts) as their columns have them. */
import type { SessionStatus } from '../../contracts/ports/sessions/sessions.js';
import { LIVE_STATUSES, SESSION_STATES, type SessionState } from '../../contracts/sessions/session-states.js';
import type { Fragment, Sql, Transaction } from '../postgres/sql.js';
import { oneOf } from '../postgres/states.js';

/** Needs the sessions as `s`. */
type Condition = (sql: Sql | Transaction) => Fragment;

/** A state has a status, and, if others have the same one, what tells it from them. */
const FORMS: Readonly<Record<SessionState, readonly [status: SessionStatus, is?: Condition]>> = {
  waiting: ['pending', (sql) => sql`s.joined_at is null and s.owner_id is null`],
  prepared: ['pending', (sql) => sql`s.joined_at is null and s.owner_id is not null`],
  joined: ['pending', (sql) => sql`s.joined_at is not null`],
  active: ['active', (sql) => sql`s.lost_at is null`],
  lost: ['active', (sql) => sql`s.lost_at is not null`],
  completed: ['completed'],
  failed: ['failed'],
};

const statesWith = (status: SessionStatus): readonly SessionState[] =>
  SESSION_STATES.filter((state) => FORMS[state][0] === status);

const anyOf = (sql: Sql | Transaction, [first, ...others]: readonly Fragment[]): Fragment => {
  if (!first) return sql`false`;
  return others.length === 0 ? first : sql`(${first} or ${anyOf(sql, others)})`;
};

/**
 * Whether a session is in one of these states. Needs the sessions as `s`. A status of which all states are meant is compared alone, in
 * the words of the partial indexes.
 */
export function isIn(sql: Sql | Transaction, states: readonly SessionState[]): Fragment {
  const statuses = [...new Set(states.map((state) => FORMS[state][0]))];
  const isWhole = (status: SessionStatus): boolean =>
    statesWith(status).every((state) => states.includes(state));
  const whole = statuses.filter(isWhole);
  const partly = statuses.filter((status) => !isWhole(status));
  return anyOf(sql, [
    ...(whole.length > 0 ? [sql`s.status in ${oneOf(sql, whole)}`] : []),
    ...partly.map((status) => {
      const kinds = states.flatMap((state) => (FORMS[state][0] === status ? [FORMS[state][1]] : []));
      const conditions = kinds.flatMap((is) => (is ? [sql`(${is(sql)})`] : []));
      return sql`(s.status in ${oneOf(sql, [status])} and ${anyOf(sql, conditions)})`;
    }),
  ]);
}

/** Whether it has not ended, in the words of the partial indexes. Needs the sessions as `s`. */
export const isLive = (sql: Sql | Transaction): Fragment => sql`s.status in ${oneOf(sql, LIVE_STATUSES)}`;
