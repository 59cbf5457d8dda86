/**
 * Signs post-call deliveries (docs/contract/platform.md 6.8): `t=<unix seconds>,v1=<hex>`, an HMAC-SHA256 over the time
 * and the exact bytes of the body, so that neither can be changed, nor a delivery be replayed later.
 */
import { createHmac } from 'node:crypto';

/** `now` in milliseconds since the epoch. */
export function sign(secret: string, body: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  const hex = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${hex}`;
}
