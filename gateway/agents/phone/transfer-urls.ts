/** Addresses of a transfer for its provider: where it reports, and asks what to do. */
import { LIMITS } from '../../../contracts/limits.js';
import type { Transfer } from '../../../contracts/phone/transfers.js';
import type { DialledLeg } from './dialling.js';

const { transferRing } = LIMITS.phone;

/** Addresses for the provider's callbacks about the transfer (index.ts). */
export function urlsOf({ id, provider }: Transfer, baseUrl: string) {
  const url = `${baseUrl}/v1/phone/${provider}/transfers/${id}`;
  return {
    answer: `${url}/answer`,
    status: `${url}/status`,
    machine: `${url}/machine`,
    action: `${url}/action`,
    document: `${url}/document`,
  };
}

/** The leg that a cold transfer dials. */
export function legOf(transfer: Transfer, baseUrl: string): DialledLeg {
  const { to, shown } = transfer;
  const { status, action, document } = urlsOf(transfer, baseUrl);
  return { to, from: shown ?? undefined, ringSeconds: transferRing, urls: { status, action, document } };
}
