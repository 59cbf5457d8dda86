/** One attempt of one delivery (docs/contract/platform.md 6.8): signed with the endpoint's current secret. */
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { WebhookSecrets } from '../../../contracts/ports/agents/agents.js';
import {
  type Delivery,
  type DeliveryOutcome,
  GONE,
  isTaken,
  type WebhookAnswer,
} from '../../../contracts/ports/sessions/deliveries.js';
import { type Outbound, OutboundError, type OutboundReply } from '../../../contracts/ports/outbound.js';
import { eventIdHeader, signatureHeader } from '../../../contracts/sessions/webhook-headers.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { sign } from '../../outbound/signer.js';
import { retryAfterMs } from './retry-after.js';

export interface DeliverParts {
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly secrets: WebhookSecrets;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** From 0 to below 1, for the jitter. Default: Math.random. */
  readonly random?: () => number;
}

/** The outcome of one request to a webhook. */
export interface Sent {
  readonly answer: WebhookAnswer;
  /** How long the receiver asks us to wait; 0 if it does not. */
  readonly retryAfterMs: number;
  readonly cause?: unknown;
}

export interface Attempt extends Sent {
  readonly outcome: DeliveryOutcome;
}

const { timeoutMs, retryMs, jitter } = LIMITS.postCallWebhook;
/** Bytes to read of the answer: none, since only its head counts. */
const CAPTURE_BYTES = 0;

type Posted = Pick<Delivery, 'agentId' | 'eventId' | 'url' | 'body' | 'signed'>;

/** The signature's header; none without a secret. */
export function signatureOf(
  secret: string | undefined,
  body: string,
  { vocabulary, clock }: Pick<DeliverParts, 'vocabulary' | 'clock'>,
): readonly (readonly [name: string, value: string])[] {
  return secret === undefined ? [] : [[signatureHeader(vocabulary), sign(secret, body, clock.now())]];
}

async function post(posted: Posted, parts: DeliverParts): Promise<OutboundReply> {
  const { url, body, eventId, agentId, signed } = posted;
  const { outbound, secrets, vocabulary } = parts;
  const secret = signed ? await secrets.secretOf(agentId, url) : undefined;
  return outbound.fetch({
    method: 'POST',
    url,
    headers: [
      ['Content-Type', 'application/json'],
      [eventIdHeader(vocabulary), eventId],
      ...signatureOf(secret, body, parts),
    ],
    body,
    timeoutMs,
    captureBytes: CAPTURE_BYTES,
    redirects: 0,
  });
}

/** Never rejects: failures on our side are reported in the answer too. */
export async function send(posted: Posted, parts: DeliverParts): Promise<Sent> {
  const since = parts.clock.monotonic();
  const durationMs = (): number => Math.round(parts.clock.monotonic() - since);
  try {
    const { status, headers } = await post(posted, parts);
    const answer = { durationMs: durationMs(), statusCode: status, error: null };
    return { answer, retryAfterMs: retryAfterMs(status, headers['retry-after'], parts.clock.now()) };
  } catch (cause) {
    const error = cause instanceof OutboundError ? cause.failure : 'internal';
    return { answer: { durationMs: durationMs(), statusCode: null, error }, retryAfterMs: 0, cause };
  }
}

/** One that was made early keeps to its plan; a pause that the receiver asks for may be longer than the planned one. */
function afterFailure(
  { steps, redelivery, early }: Delivery,
  { answer, retryAfterMs: wanted }: Sent,
  random: () => number,
): DeliveryOutcome {
  if (answer.statusCode === GONE) return { kind: 'failed' };
  if (early) return { kind: 'early' };
  const pauseMs = redelivery ? undefined : retryMs[steps];
  if (pauseMs === undefined) return { kind: 'failed' };
  return { kind: 'again', afterMs: Math.round(Math.max(pauseMs * (1 + jitter * random()), wanted)) };
}

/** Failures on our side count as failed attempts too. */
export async function deliver(delivery: Delivery, parts: DeliverParts): Promise<Attempt> {
  const sent = await send(delivery, parts);
  const outcome: DeliveryOutcome = isTaken(sent.answer)
    ? { kind: 'delivered' }
    : afterFailure(delivery, sent, parts.random ?? Math.random);
  return { ...sent, outcome };
}
