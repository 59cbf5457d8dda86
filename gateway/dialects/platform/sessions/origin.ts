/**
 * Access to sessions without a key (keyless, public agents; docs/contract/platform.md 6.10): only from pages whose `Origin` is on
 * the agent's allow-list (`allowed_origins`). Origins match
 * by scheme, host and port; the host in any case, and an entry may end with a slash.
 */
import { ServiceError } from '../../../../contracts/errors.js';
import type { Agent } from '../../../../contracts/ports/agents/agents.js';
import type { HttpRequest } from '../../../server/port.js';

/** Origins of browser extensions and apps are no URL origins; they are compared as text. */
function comparable(origin: string): string {
  const bare = origin.trim().replace(/\/$/, '');
  const url = URL.canParse(bare) ? new URL(bare) : undefined;
  return url && url.origin !== 'null' ? url.origin : bare.toLowerCase();
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/i;

/** Whether it is `scheme://host` or `scheme://host:port`, as browsers send it; a slash may follow. */
export function isOrigin(text: string): boolean {
  const bare = text.replace(/\/$/, '');
  return ORIGIN.test(bare) && URL.canParse(bare);
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
