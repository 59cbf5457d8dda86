/** The states of deliveries as their columns have them, in the form that the indexes of what waits know. */
import type { DeliveryStatus } from '../../contracts/sessions/delivery-states.js';
import type { Fragment, Sql, Transaction } from '../postgres/sql.js';

const IS: Readonly<Record<DeliveryStatus, (sql: Sql | Transaction) => Fragment>> = {
  waiting: (sql) => sql`d.settled_at is null`,
  delivered: (sql) => sql`d.outcome = 'delivered'`,
  failed: (sql) => sql`d.outcome = 'failed'`,
};

/** Whether a delivery is in one of these states; it may be null instead of false. Needs the deliveries as `d`. */
export const isIn = (sql: Sql | Transaction, [first, ...others]: readonly DeliveryStatus[]): Fragment => {
  if (first === undefined) return sql`false`;
  return others.length === 0 ? IS[first](sql) : sql`(${IS[first](sql)} or ${isIn(sql, others)})`;
};
