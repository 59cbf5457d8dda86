/**
 * Who may ask for a session without a key (native-and-platform.md 6.10): pages of the agent's own origins, and only so
 * often. An origin is scheme, host and port, exactly; the host in any case, and a slash at the end of an entry.
 */
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../../../../contracts/errors.js';
import type { Agent } from '../../../../contracts/ports/agents.js';
import type { HttpRequest } from '../../../server/port.js';

/** Origins of browser extensions and apps have no URL origin; they are compared as they are. */
function comparable(origin: string): string {
  const bare = origin.trim().replace(/\/$/, '');
  const url = URL.canParse(bare) ? new URL(bare) : undefined;
  return url && url.origin !== 'null' ? url.origin : bare.toLowerCase();
}

const forbidden = (message: string): ServiceError => new ServiceError('forbidden', { message });

/** Errors: `forbidden`. */
export function admitOrigin(agent: Agent, { headers }: Pick<HttpRequest, 'headers'>): void {
  if (!agent.publicEnabled) throw forbidden('Agent is not public');
  const origin = headers.get('origin');
  if (origin === undefined || origin === '') throw forbidden('Origin header is required for public agents');
  const wanted = comparable(origin);
  const allowed = wanted !== 'null' && agent.allowedOrigins.some((entry) => comparable(entry) === wanted);
  if (!allowed) throw forbidden('Origin not allowed');
}

/** What the limit per client counts: an IPv4 address, or the /64 network that one IPv6 client has to itself. */
export function limitedAddress(clientAddress: string): string {
  if (!ipaddr.isValid(clientAddress)) return clientAddress;
  const address = ipaddr.process(clientAddress);
  if (address.kind() === 'ipv4') return address.toString();
  const network = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
