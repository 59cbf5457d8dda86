/**
 * Where a connection goes: a name is resolved once, every address is judged, and the connection goes to one of exactly those, so a name
 * that resolves differently the second time (DNS rebinding) gains nothing.
 */
import type { LookupFunction } from 'node:net';
import { OutboundError } from '../../contracts/ports/outbound.js';
import { parseAddress } from './addresses.js';
import type { AllowedTargets } from './allow.js';
import { addressRefusal, judge, type Target } from './guard.js';
import type { Lookup } from './lookup.js';
import { refused } from './redirects.js';

export const CONNECT_MS = 10_000;
/** How long a connection to one address may take before the host's next address is tried. */
const NEXT_ADDRESS_MS = 1000;

export interface Resolving {
  readonly allowed: AllowedTargets;
  readonly lookup: Lookup;
  readonly signal: AbortSignal;
}

/** Errors: `OutboundError` if the address as written may not be used. */
export function targetOf(url: string, allowed: AllowedTargets): Target {
  const verdict = judge(url, allowed);
  if ('refusal' in verdict) throw refused(verdict.refusal);
  return verdict.target;
}

/** The addresses that the connection may use. All of them must be allowed. */
export async function addressesOf(target: Target, parts: Resolving): Promise<readonly string[]> {
  if (target.literal) return [target.host];
  const { host, port, named } = target;
  const found = await parts.lookup(host, named, parts.signal).catch((cause: unknown) => {
    throw new OutboundError('unresolved', `The host ${host} does not resolve`, { cause });
  });
  for (const text of found) {
    const address = parseAddress(text);
    const refusal = address ? addressRefusal(address, port, parts.allowed, named) : 'is malformed';
    if (refusal !== undefined) throw refused(refusal);
  }
  return found;
}

/** A look-up that always returns the addresses that were judged. */
function pinned(addresses: readonly string[]): LookupFunction {
  const rows = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_host, options, done) => {
    const [first] = rows;
    if (options.all) done(null, rows);
    else done(null, first?.address ?? '', first?.family);
  };
}

/** How undici connects to these addresses. */
export const connecting = (addresses: readonly string[]) => ({
  lookup: pinned(addresses),
  timeout: CONNECT_MS,
  autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
});
