/**
 * Post-call events on their way to an account owner's endpoints (docs/contract/platform.md 6.8). A delivery is a row
 * before it is sent, written in the transaction of its event, so it outlives every process. Delivery is at least once, and
 * in order per session and endpoint.
 */
import type { OutboundFailure } from '../outbound.js';
import type { Listed, PageRequest } from '../page.js';

export const DELIVERY_EVENTS = ['call.ended', 'call.analyzed', 'phone_call.ended'] as const;
export type DeliveryEvent = (typeof DELIVERY_EVENTS)[number];

export interface Delivery {
  readonly id: string;
  readonly agentId: string;
  readonly event: DeliveryEvent;
  readonly url: string;
  /** JSON; the same bytes in every attempt. */
  readonly body: string;
  /** Attempts so far. */
  readonly attempts: number;
  /** Requested by hand: it has a single attempt. */
  readonly redelivery: boolean;
  /** False if the webhook has no secret in the version that its session ran. */
  readonly signed: boolean;
}

/** The outcome of one request to a webhook. */
export interface WebhookAnswer {
  readonly durationMs: number;
  /** Null if there was no answer. */
  readonly statusCode: number | null;
  /** Why there was no answer; `internal` if it failed on our side. */
  readonly error: OutboundFailure | 'internal' | null;
}

/** Whether the webhook accepted it: any 2xx, and no redirect. */
export const isTaken = ({ statusCode }: WebhookAnswer): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed' }
  /** Failed; retry after this many milliseconds. */
  | { readonly kind: 'again'; readonly afterMs: number };

export interface DeliveryQueue {
  /** Leases due deliveries for `leaseMs`; no other process gets them meanwhile. */
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
  /** Null for deliveries older than this column. */
  readonly createdAt: Date | null;
  /** Time of the next attempt, while waiting. */
  readonly dueAt: Date | null;
  readonly settledAt: Date | null;
  /** In order; attempts older than this table are missing. */
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

/** The deliveries of a workspace; those of others do not exist. Newest first. */
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
export type SendToWebhook = (
  delivery: Pick<Delivery, 'agentId' | 'url' | 'body' | 'signed'>,
) => Promise<WebhookAnswer>;
