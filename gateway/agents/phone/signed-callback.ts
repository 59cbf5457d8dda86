/**
 * A provider's callback about a call or a transfer. Nothing counts without a signature with the secret of its number, and
 * nothing reveals whether the id in its address is known.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { isId } from '../../../contracts/ids.js';
import type { DiallingNumbers } from '../../../contracts/ports/phone/phone.js';
import type { HttpRequest } from '../../server/port.js';
import { webhookOf } from './answering.js';
import { forged } from './claims.js';
import type { CallReport, Dialling } from './dialling.js';
import type { Provider, Webhook } from './provider.js';

/** A provider's webhooks and streams, and its API. */
export interface Spoken {
  readonly provider: Provider;
  readonly dialling: Dialling;
}

export const aboutNothing = (): ServiceError =>
  new ServiceError('invalid_request', { message: 'The callback is about no call' });

/** A call or transfer, as far as its callbacks are verified with it. */
interface Subject {
  readonly numberId: string | null;
  readonly provider: string;
}

/** Reads a callback about what `find` finds by the id in its address, the parameter `name`. Errors: `forbidden`. */
export async function signedCallback<Found extends Subject>(
  request: HttpRequest,
  { provider }: Spoken,
  name: string,
  find: (id: string) => Promise<Found | undefined>,
  { numbers, clock }: { readonly numbers: DiallingNumbers; readonly clock: Pick<Clock, 'now'> },
): Promise<{ readonly found: Found; readonly webhook: Webhook }> {
  const webhook = await webhookOf(request);
  const id = request.params[name] ?? '';
  const found = isId(id) ? await find(id) : undefined;
  const number = found?.numberId ? await numbers.open(found.numberId) : undefined;
  if (!found || !number || found.provider !== provider.name) throw forged();
  if (!provider.isSigned(webhook, number.secret, clock.now())) throw forged();
  request.authenticated();
  return { found, webhook };
}

/** Errors: `invalid_request` for a callback about no call. */
export function reportOf({ dialling }: Spoken, webhook: Webhook): CallReport {
  const report = dialling.report(webhook);
  if (!report) throw aboutNothing();
  return report;
}
