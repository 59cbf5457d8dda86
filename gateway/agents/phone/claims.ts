/**
 * Whose an incoming call is. Several workspaces may have registered a number; the call goes to the one for which the provider's
 * request speaks: by an address that only this workspace was told, and by a signature with the secret of its number.
 *
 * Invariants: without a signature that fits nothing counts, and nothing reveals whether a number is known; a signature is checked
 * once with each secret; a public credential gives nobody a number that somebody else has registered, too.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import { phoneAddress, PUBLIC_CREDENTIALS } from '../../../contracts/phone/phone.js';
import type { Claim, DialledNumbers, PhoneNumber } from '../../../contracts/ports/phone/phone.js';
import type { IncomingCall, Provider, Webhook } from './provider.js';

export interface ClaimParts {
  readonly numbers: Pick<DialledNumbers, 'find' | 'addressed' | 'prove'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export const forged = (): ServiceError => new ServiceError('forbidden', { message: 'Invalid signature' });

type Signs = Pick<Provider, 'name' | 'isSigned'>;

/** Whether the webhook is signed with a secret; remembers the answer for each. */
function verifier(webhook: Webhook, provider: Signs, now: number): (secret: string) => boolean {
  const known = new Map<string, boolean>();
  return (secret) => {
    const fits = known.get(secret) ?? provider.isSigned(webhook, secret, now);
    known.set(secret, fits);
    return fits;
  };
}

/** All claims to a number, in their order, page by page. */
async function* claimsTo(address: string, { name }: Signs, { numbers }: ClaimParts): AsyncGenerator<Claim> {
  for (let skip = 0; ; skip += LIMITS.phone.claims) {
    const page = await numbers.find(name, address, skip);
    yield* page;
    if (page.length < LIMITS.phone.claims) return;
  }
}

/** The claim that a webhook at the address of all speaks for. Errors: `forbidden`. */
async function ofSharedAddress(
  address: string,
  webhook: Webhook,
  provider: Signs,
  parts: ClaimParts,
): Promise<Claim> {
  const isSigned = verifier(webhook, provider, parts.clock.now());
  let only: Claim | undefined;
  for await (const claim of claimsTo(address, provider, parts)) {
    if (!isSigned(claim.secret)) continue;
    if (claim.isProven || !PUBLIC_CREDENTIALS.has(provider.name)) return claim;
    if (only) throw disputed(provider, [only, claim], parts);
    only = claim;
  }
  if (!only) throw forged();
  return only;
}

/** The caller learns nothing; the operator does. */
function disputed(provider: Signs, claims: readonly Claim[], { log }: ClaimParts): ServiceError {
  const ids = claims.map(({ number }) => number.id);
  log.warn({ provider: provider.name, phoneNumberIds: ids }, 'several workspaces claim a phone number');
  return forged();
}

/** Errors: `forbidden`. */
async function ofOwnAddress(
  token: string,
  address: string,
  webhook: Webhook,
  provider: Signs,
  { numbers, clock }: ClaimParts,
): Promise<Claim> {
  const claim = await numbers.addressed(provider.name, token, address);
  if (!claim || !provider.isSigned(webhook, claim.secret, clock.now())) throw forged();
  if (!claim.isProven) await numbers.prove(claim.number.id);
  return claim;
}

/**
 * The number that is called. `token`: from the address of the request; empty if that is the address of all.
 * Errors: `forbidden`.
 */
export async function numberOf(
  { to }: IncomingCall,
  webhook: Webhook,
  token: string,
  provider: Signs,
  parts: ClaimParts,
): Promise<PhoneNumber> {
  const address = phoneAddress(to);
  if (address === undefined) throw forged();
  const found =
    token === ''
      ? ofSharedAddress(address, webhook, provider, parts)
      : ofOwnAddress(token, address, webhook, provider, parts);
  return (await found).number;
}
