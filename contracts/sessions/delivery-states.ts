/**
 * The lifecycle of a delivery (docs/contract/platform.md 6.8, ops/adr/0058-tables-for-rows.md): what becomes of it after an
 * attempt. Which process sends it, and when, is a lease in the same row, and no state.
 */
import { answering, type Lifecycle, stay, to } from '../lifecycle.js';

export const DELIVERY_STATUSES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** What is reported about a delivery. */
export const DELIVERY_REPORTS = [
  /** The receiver has taken it. */
  'delivered',
  /** The last attempt failed, or the receiver wants it no more. */
  'failed',
  /** An attempt failed, and another one follows. */
  'again',
  /** An attempt failed that was made before its time. */
  'early',
  /** It has waited too long for a receiver that fails. */
  'given_up',
  /** Somebody asks to have it sent again. */
  'redelivered',
] as const;
export type DeliveryReport = (typeof DELIVERY_REPORTS)[number];

/** When its next attempt is. */
export type DeliveryEffect = 'due_at_once' | 'due_later' | 'due_as_planned';

type DeliveryLifecycle = Lifecycle<DeliveryStatus, DeliveryReport, DeliveryEffect>;

const SETTLED: DeliveryLifecycle[DeliveryStatus] = { redelivered: to('waiting', 'due_at_once') };

export const DELIVERY: DeliveryLifecycle = {
  waiting: {
    delivered: to('delivered'),
    failed: to('failed'),
    again: stay('due_later'),
    early: stay('due_as_planned'),
    given_up: to('failed'),
  },
  delivered: SETTLED,
  failed: SETTLED,
};

/** The states in which a report does something, for SQL. */
export const answeringDelivery = (report: DeliveryReport): readonly DeliveryStatus[] =>
  answering(report, DELIVERY);
