/** One attempt of one delivery (docs/contract/platform.md 6.8): signed with the endpoint's secret of this moment. */
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import type { WebhookSecrets } from '../../contracts/ports/agents.js';
import type { Delivery, DeliveryOutcome } from '../../contracts/ports/deliveries.js';
import { type Outbound, OutboundError } from '../../contracts/ports/outbound.js';
import type { Vocabulary } from '../../contracts/vocabulary.js';
import { sign, signatureHeader } from '../outbound/signer.js';

export interface DeliverParts {
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly secrets: WebhookSecrets;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
}

export interface Attempt {
  readonly outcome: DeliveryOutcome;
  /** The status, or why there was none. */
  readonly note: string;
  readonly cause?: unknown;
}

const { timeoutMs, retryMs } = LIMITS.postCallWebhook;
/** Bytes of the answer that are read: none, as only its status counts. */
const CAPTURE_BYTES = 0;

function afterFailure({ attempts }: Delivery): DeliveryOutcome {
  const afterMs = retryMs[attempts];
  return afterMs === undefined ? { kind: 'failed' } : { kind: 'again', afterMs };
}

async function post({ url, body, agentId }: Delivery, parts: DeliverParts): Promise<number> {
  const { outbound, secrets, vocabulary, clock } = parts;
  const secret = await secrets.secretOf(agentId, url);
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

/** Any 2xx is success; a redirect is none. Never rejects: what fails on our side is a failed attempt as well. */
export async function deliver(delivery: Delivery, parts: DeliverParts): Promise<Attempt> {
  try {
    const status = await post(delivery, parts);
    const isDelivered = status >= 200 && status < 300;
    return { outcome: isDelivered ? { kind: 'delivered' } : afterFailure(delivery), note: String(status) };
  } catch (cause) {
    const note = cause instanceof OutboundError ? cause.failure : 'internal';
    return { outcome: afterFailure(delivery), note, cause };
  }
}
