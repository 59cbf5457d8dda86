/**
 * Access to `/metrics`: free on this machine and private networks; from elsewhere with a key that may see the machine, or the
 * operator's METRICS_TOKEN, as a bearer token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../../contracts/errors.js';
import type { KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import { authenticateKey, bearerToken } from '../auth.js';
import type { HttpRequest } from '../port.js';

export interface Scraping {
  /** Absent: no key gives access. */
  readonly keys?: KeyAuthority | undefined;
  /** METRICS_TOKEN. */
  readonly token?: string | undefined;
  /** The figures, in Prometheus' text format. Default: those of this process. */
  readonly figures?: (() => Promise<string>) | undefined;
}

type Request = Pick<HttpRequest, 'headers' | 'permission' | 'fromPrivateNetwork'>;

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares in constant time. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digestOf(a), digestOf(b));

/** Whether the request has METRICS_TOKEN. */
export function isBearer({ headers }: Pick<Request, 'headers'>, token: string | undefined): boolean {
  const bearer = bearerToken(headers);
  return token !== undefined && bearer !== undefined && isSame(bearer, token);
}

/** Errors: those of `authenticateKey`. */
export async function admitScrape(request: Request, { keys, token }: Scraping): Promise<void> {
  if (request.fromPrivateNetwork || isBearer(request, token)) return;
  const bearer = bearerToken(request.headers);
  if (!keys) throw new ServiceError(bearer === undefined ? 'missing_key' : 'invalid_key');
  await authenticateKey(bearer, keys, request.permission);
}
