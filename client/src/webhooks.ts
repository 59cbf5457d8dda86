/**
 * Verifies post-call events at the server that receives them (docs/webhooks.md). It uses Web Crypto alone, so it works in Node, in other
 * runtimes and at the edge; its comparison takes the same time wherever two signatures differ.
 */
import type { WebhookEvent } from './webhook-events.js';

/** Why a request was refused. */
export type WebhookErrorCode =
  /** It has no header of a signature, or one of another form. */
  | 'signature_missing'
  /** It was signed with another secret, or its body was changed. */
  | 'signature_wrong'
  /** It was signed too long ago, or in the future: somebody sends an old request again, or a clock is wrong. */
  | 'too_old'
  /** It is no event. */
  | 'not_an_event';

export class WebhookError extends Error {
  override readonly name = 'WebhookError';

  constructor(
    readonly code: WebhookErrorCode,
    message: string,
  ) {
    super(message);
  }
}

export interface WebhookRequest {
  /** The body exactly as it came, before anything has parsed it. */
  readonly body: string | Uint8Array;
  /** The header `X-Svc-Webhook-Signature`. */
  readonly signature: string | null | undefined;
  /** The webhook's secret; several while it is being changed. */
  readonly secret: string | readonly string[];
  /** How far the signature's time may be from now, in seconds. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since the epoch. Default: now. */
  readonly now?: number;
}

const TOLERANCE_SECONDS = 300;
const TIME = /^\d{1,12}$/;
const HEX = /^[0-9a-f]{64}$/;

interface Signed {
  readonly time: string;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

const bytesOf = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );

/** Elements of other versions are left out: `t=…,v1=…,v2=…`. */
function readSignature(header: string | null | undefined): Signed {
  const elements = (header ?? '').split(',').map((element) => element.trim().split('=', 2));
  const valuesOf = (name: string): string[] =>
    elements.flatMap(([key, value = '']) => (key === name ? [value] : []));
  const [time = ''] = valuesOf('t');
  const signatures = valuesOf('v1').filter((value) => HEX.test(value));
  if (!TIME.test(time) || signatures.length === 0)
    throw new WebhookError('signature_missing', 'The request has no signature of the form t=…,v1=…');
  return { time, signatures: signatures.map(bytesOf) };
}

const UTF8 = new TextEncoder();

function signedBytes(time: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const [before, after] = [UTF8.encode(`${time}.`), typeof body === 'string' ? UTF8.encode(body) : body];
  const bytes = new Uint8Array(before.length + after.length);
  bytes.set(before);
  bytes.set(after, before.length);
  return bytes;
}

const HMAC = { name: 'HMAC', hash: 'SHA-256' };

async function isSigned({ time, signatures }: Signed, { body, secret }: WebhookRequest): Promise<boolean> {
  const { subtle } = globalThis.crypto;
  const bytes = signedBytes(time, body);
  let valid = false;
  for (const one of [secret].flat()) {
    const key = await subtle.importKey('raw', UTF8.encode(one), HMAC, false, ['verify']);
    for (const signature of signatures) if (await subtle.verify('HMAC', key, signature, bytes)) valid = true;
  }
  return valid;
}

function eventIn(body: string | Uint8Array): WebhookEvent {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  try {
    const event: unknown = JSON.parse(text);
    if (typeof event === 'object' && event !== null && 'event' in event && typeof event.event === 'string')
      return event as WebhookEvent;
  } catch {
    // No JSON either.
  }
  throw new WebhookError('not_an_event', 'The body is no event');
}

/** The event of a request that the gateway has signed. Errors: `WebhookError`. */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const signed = readSignature(request.signature);
  const { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() } = request;
  if (!(await isSigned(signed, request)))
    throw new WebhookError('signature_wrong', 'The signature does not fit the body and the secret');
  if (Math.abs(now / 1000 - Number(signed.time)) > toleranceSeconds)
    throw new WebhookError('too_old', `The signature was not made within ${toleranceSeconds} seconds of now`);
  return eventIn(request.body);
}
