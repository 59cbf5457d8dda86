/**
 * Post-call events on their way to an account owner's endpoints (docs/contract/platform.md 6.8). A delivery is a row
 * before it is sent, written in the transaction of its event, so it outlives every process. Delivery is at least once; first
 * attempts are in order per session and endpoint.
 */
import type { DeliveryStatus } from '../../sessions/delivery-states.js';
import type { OutboundFailure } from '../outbound.js';
import type { Listed, PageRequest } from '../page.js';

export const DELIVERY_EVENTS = [
  'call.ended',
  'call.analyzed',
  'phone_call.dial_finished',
  'phone_call.ended',
] as const;
export type DeliveryEvent = (typeof DELIVERY_EVENTS)[number];

export interface Delivery {
  readonly id: string;
  readonly workspaceId: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly event: DeliveryEvent;
  /** Names the event, in its body and in a header; the same for each of its webhooks and in each attempt. */
  readonly eventId: string;
  readonly url: string;
  /** JSON; the same bytes in every attempt. */
  readonly body: string;
  /** Attempts so far. */
  readonly attempts: number;
  /** Those of them that the plan of attempts counts. */
  readonly steps: number;
  /** Given out before its time, since its receiver is back or is asked whether it is; the plan does not count the attempt. */
  readonly early: boolean;
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

/** The report of an attempt (contracts/sessions/delivery-states.ts). */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed' }
  /** Failed; retry after this many milliseconds. */
  | { readonly kind: 'again'; readonly afterMs: number }
  /** Failed before its time; its next attempt stays when it was to be. */
  | { readonly kind: 'early' };

/** The status by which a receiver says that it wants the event no more: it is not asked again. */
export const GONE = 410;

/** What an attempt shows of its receiver; nothing if it failed on our side. */
export type ReceiverState = 'well' | 'failing' | 'unknown';

export function receiverState(
  answer: Pick<WebhookAnswer, 'durationMs' | 'statusCode' | 'error'>,
): ReceiverState {
  if (answer.error === 'internal') return 'unknown';
  return isTaken(answer) || answer.statusCode === GONE ? 'well' : 'failing';
}

/** What waits, in all workspaces. */
export interface Backlog {
  readonly waiting: number;
  /** Age of the oldest that waits, in seconds; 0 if none does. */
  readonly oldestSeconds: number;
  /** Receivers that are asked less often, since they fail. */
  readonly failingReceivers: number;
}

/** A delivery that has waited too long for its receiver. */
export type GivenUp = Pick<
  Delivery,
  'id' | 'workspaceId' | 'sessionId' | 'agentId' | 'event' | 'eventId' | 'url' | 'attempts'
>;

export interface DeliveryQueue {
  /**
   * Leases due deliveries for `leaseMs`; no other process gets them meanwhile. `idleOnly`: one each, of endpoints to which nothing is
   * under way.
   */
  take(most: number, leaseMs: number, idleOnly?: boolean): Promise<readonly Delivery[]>;
  /** Also notes what the attempt shows of its receiver. */
  settle(
    delivery: Pick<Delivery, 'id' | 'early'>,
    outcome: DeliveryOutcome,
    answer: WebhookAnswer,
  ): Promise<void>;
  /** Gives up what has waited for a failing receiver for too long, some at a time. */
  giveUp(): Promise<readonly GivenUp[]>;
  /** Makes some of what is to be sent again wait; false if nothing is to. */
  redeliver(): Promise<boolean>;
  backlog(): Promise<Backlog>;
  /** Called when deliveries may be due. The result ends it. */
  onDue(listener: () => void): Promise<() => void>;
}

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
  readonly eventId: string;
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
  /** Of the event. */
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
}

/** Which deliveries are to be sent again: settled ones. */
export type RedeliveryFilter = Omit<DeliveryFilter, 'status'> & {
  readonly status: Exclude<DeliveryStatus, 'waiting'>;
};

/** A request to send many deliveries again, worked off in the background. */
export interface Redelivery {
  readonly id: string;
  readonly filter: RedeliveryFilter;
  readonly createdAt: Date;
  /** Once all have been looked at; they may still wait. */
  readonly finishedAt: Date | null;
  /** How many were made to wait again. */
  readonly redelivered: number;
  /** How many of these still wait. */
  readonly waiting: number;
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
  /**
   * The same for all that fit, oldest first, without those that were sent again too often or have lost their agent. Errors:
   * `conflict` while another such request of the workspace is worked off.
   */
  redeliverAll(workspaceId: string, filter: RedeliveryFilter): Promise<Redelivery>;
  redelivery(id: string, workspaceId: string): Promise<Redelivery | undefined>;
}

/** One request to a webhook of an agent, signed and guarded as deliveries are. Never rejects. */
export type SendToWebhook = (
  delivery: Pick<Delivery, 'agentId' | 'eventId' | 'url' | 'body' | 'signed'>,
) => Promise<WebhookAnswer>;
