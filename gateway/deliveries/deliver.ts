/** One attempt of one delivery (docs/contract/platform.md 6.8): signed with the endpoint's current secret. */
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import type { WebhookSecrets } from '../../contracts/ports/agents/agents.js';
import {
  type Delivery,
  type DeliveryOutcome,
  isTaken,
  type WebhookAnswer,
} from '../../contracts/ports/sessions/deliveries.js';
import { type Outbound, OutboundError } from '../../contracts/ports/outbound.js';
import type { Vocabulary } from '../../contracts/vocabulary.js';
import { sign, signatureHeader } from '../outbound/signer.js';

export interface DeliverParts {
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly secrets: WebhookSecrets;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
}

/** The outcome of one request to a webhook. */
export interface Sent {
  readonly answer: WebhookAnswer;
  readonly cause?: unknown;
}

export interface Attempt extends Sent {
  readonly outcome: DeliveryOutcome;
}

const { timeoutMs, retryMs } = LIMITS.postCallWebhook;
/** Bytes to read of the answer: none, since only its status counts. */
const CAPTURE_BYTES = 0;

function afterFailure({ attempts, redelivery }: Delivery): DeliveryOutcome {
  const afterMs = redelivery ? undefined : retryMs[attempts];
  return afterMs === undefined ? { kind: 'failed' } : { kind: 'again', afterMs };
}

type Posted = Pick<Delivery, 'agentId' | 'url' | 'body' | 'signed'>;

async function post({ url, body, agentId, signed }: Posted, parts: DeliverParts): Promise<number> {
  const { outbound, secrets, vocabulary, clock } = parts;
  const secret = signed ? await secrets.secretOf(agentId, url) : undefined;
  const signature =
    secret === undefined ? [] : [[signatureHeader(vocabulary), sign(secret, body, clock.now())] as const];
  const { status } = await outbound.fetch({
    method: 'POST',
    url,
    headers: [['Content-Type', 'application/json'], ...signature],
    body,
    timeoutMs,
    captureBytes: CAPTURE_BYTES,
    redirects: 0,
  });
  return status;
}

/** Never rejects: failures on our side are reported in the answer too. */
export async function send(posted: Posted, parts: DeliverParts): Promise<Sent> {
  const since = parts.clock.monotonic();
  const durationMs = (): number => Math.round(parts.clock.monotonic() - since);
  try {
    const statusCode = await post(posted, parts);
    return { answer: { durationMs: durationMs(), statusCode, error: null } };
  } catch (cause) {
    const error = cause instanceof OutboundError ? cause.failure : 'internal';
    return { answer: { durationMs: durationMs(), statusCode: null, error }, cause };
  }
}

/** Failures on our side count as failed attempts too. */
export async function deliver(delivery: Delivery, parts: DeliverParts): Promise<Attempt> {
  const sent = await send(delivery, parts);
  return { ...sent, outcome: isTaken(sent.answer) ? { kind: 'delivered' } : afterFailure(delivery) };
}
