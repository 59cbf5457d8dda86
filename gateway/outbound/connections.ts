/**
 * Connections that are kept for the next request, to addresses of account owners: each goes where the guard lets it. For requests that come
 * again and again and must not wait for a handshake, such as those to an agent's own language model.
 */
import type { Agent, buildConnector } from 'undici';
import { OutboundError } from '../../contracts/ports/outbound.js';
import { parseAllowed } from './allow.js';
import { type Lookup, resolveHost } from './lookup.js';
import { addressesOf, CONNECT_MS, connecting, type Resolving, targetOf } from './pinned.js';

export interface ConnectionParts {
  /** OUTBOUND_ALLOW. */
  readonly allow: readonly string[];
  readonly lookup?: Lookup;
}

/** A connection that nothing was asked over for so long is closed. */
const IDLE_MS = 30_000;

/** Its default export: ops/setup/bundle.mjs says why. */
const undici = async () => (await import('undici')).default;

type Connect = buildConnector.connector;
type Made = Parameters<Connect>[1];

async function connect(
  to: Parameters<Connect>[0],
  made: Made,
  resolving: Omit<Resolving, 'signal'>,
): Promise<void> {
  const { buildConnector } = await undici();
  const target = targetOf(`${to.protocol}//${to.host ?? to.hostname}`, resolving.allowed);
  const signal = AbortSignal.timeout(CONNECT_MS);
  const addresses = await addressesOf(target, { ...resolving, signal });
  buildConnector(connecting(addresses))(to, made);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new OutboundError('unreachable', 'The host could not be reached');

/** Made with the first request. Its requests fail with the `OutboundError` of the guard. */
export function guardedConnections({ allow, lookup = resolveHost }: ConnectionParts): () => Promise<Agent> {
  const resolving = { allowed: parseAllowed(allow), lookup };
  let agent: Promise<Agent> | undefined;
  return () =>
    (agent ??= undici().then(
      ({ Agent }) =>
        new Agent({
          connect: (to: Parameters<Connect>[0], made: Made) =>
            void connect(to, made, resolving).catch((error: unknown) => made(asError(error), null)),
          // Whoever asks limits the time.
          headersTimeout: 0,
          bodyTimeout: 0,
          keepAliveTimeout: IDLE_MS,
        }),
    ));
}
