/**
 * Post-call events on their way to an account owner's endpoints (docs/contract/platform.md 6.8). A delivery is a row
 * before it is sent, in the transaction of what it tells of, so it outlives every process. At least once, and per
 * session and endpoint in order.
 */
export const DELIVERY_EVENTS = ['call.ended', 'call.analyzed'] as const;
export type DeliveryEvent = (typeof DELIVERY_EVENTS)[number];

export interface Delivery {
  readonly id: string;
  readonly agentId: string;
  readonly event: DeliveryEvent;
  readonly url: string;
  /** JSON; the same bytes in every attempt. */
  readonly body: string;
  /** Attempts that have failed. */
  readonly attempts: number;
}

export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed' }
  /** Failed; try again after so many milliseconds. */
  | { readonly kind: 'again'; readonly afterMs: number };

export interface DeliveryQueue {
  /** Deliveries that are due, for `leaseMs`; nobody else gets them meanwhile. */
  take(most: number, leaseMs: number): Promise<readonly Delivery[]>;
  /** `note` is the status or why there was none. */
  settle(id: string, outcome: DeliveryOutcome, note: string): Promise<void>;
  /** Called when deliveries may be due. The result ends it. */
  onDue(listener: () => void): Promise<() => void>;
}
