/**
 * Post-call events on their way to an account owner's endpoints (docs/contract/platform.md 6.8). A delivery is a row
 * before it is sent, in the transaction of what it tells of, so it outlives every process. At least once, and per
 * session and endpoint in order.
 */
import type { OutboundFailure } from './outbound.js';
import type { Listed, PageRequest } from './page.js';

export const DELIVERY_EVENTS = ['call.ended', 'call.analyzed', 'phone_call.ended'] as const;
export type DeliveryEvent = (typeof DELIVERY_EVENTS)[number];

export interface Delivery {
  readonly id: string;
  readonly agentId: string;
  readonly event: DeliveryEvent;
  readonly url: string;
  /** JSON; the same bytes in every attempt. */
  readonly body: string;
  /** Attempts that were made. */
  readonly attempts: number;
  /** Asked for once more: this attempt is the only one. */
  readonly redelivery: boolean;
}

/** What came of one request to a webhook. */
export interface WebhookAnswer {
  readonly durationMs: number;
  /** Null where there was no answer. */
  readonly statusCode: number | null;
  /** Why there was none; `internal` where it failed on our side. */
  readonly error: OutboundFailure | 'internal' | null;
}

/** Any 2xx; a redirect is none. */
export const isTaken = ({ statusCode }: WebhookAnswer): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed' }
  /** Failed; try again after so many milliseconds. */
  | { readonly kind: 'again'; readonly afterMs: number };

export interface DeliveryQueue {
  /** Deliveries that are due, for `leaseMs`; nobody else gets them meanwhile. */
  take(most: number, leaseMs: number): Promise<readonly Delivery[]>;
  settle(id: string, outcome: DeliveryOutcome, answer: WebhookAnswer): Promise<void>;
  /** Called when deliveries may be due. The result ends it. */
  onDue(listener: () => void): Promise<() => void>;
}

export const DELIVERY_STATUSES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface DeliveryAttempt extends Omit<WebhookAnswer, 'error'> {
  /** Counts from 1. */
  readonly number: number;
  readonly startedAt: Date;
  /** As in `WebhookAnswer`; an open set. */
  readonly error: string | null;
  readonly redelivery: boolean;
}

/** A delivery as its workspace sees it. */
export interface DeliveryRecord {
  readonly id: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly event: DeliveryEvent;
  readonly url: string;
  readonly status: DeliveryStatus;
  /** Null where it was made before this was kept. */
  readonly createdAt: Date | null;
  /** Of the next attempt, while it waits. */
  readonly dueAt: Date | null;
  readonly settledAt: Date | null;
  /** In order; those made before they were kept are missing. */
  readonly attempts: readonly DeliveryAttempt[];
}

export interface DeliveryDetail extends DeliveryRecord {
  readonly body: string;
}

export interface DeliveryFilter {
  readonly agentId?: string;
  readonly sessionId?: string;
  readonly url?: string;
  readonly status?: DeliveryStatus;
}

/** The deliveries of a workspace; another one's do not exist. Newest first. */
export interface DeliveryRecords {
  list(workspaceId: string, filter: DeliveryFilter, page: PageRequest): Promise<Listed<DeliveryRecord>>;
  read(id: string, workspaceId: string): Promise<DeliveryDetail | undefined>;
  /**
   * One more attempt, with the same body, at once. Errors: `conflict` while it waits, too often, or without its agent;
   * `rate_limited`.
   */
  redeliver(id: string, workspaceId: string): Promise<DeliveryRecord | undefined>;
}

/** One request to a webhook of an agent, signed and guarded as deliveries are. Never rejects. */
export type SendToWebhook = (delivery: Pick<Delivery, 'agentId' | 'url' | 'body'>) => Promise<WebhookAnswer>;
