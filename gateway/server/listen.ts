/**
 * Opens the server: chooses the adapter, checks all options that can be checked before listening, and returns the
 * handle with which the wiring drains and closes it. One log line says which HTTP stack serves, and if it is
 * `node` because no native binding loads, why.
 */
import type { Clock } from '../../contracts/clock.js';
import { Deadline } from '../../contracts/time/deadline.js';
import type { Ids } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import { type MemoryLedger, UNBOUNDED_MEMORY } from '../../contracts/ports/accounts/memory.js';
import type { Adapter, AdapterOptions } from './adapters/adapter.js';
import { type Binding, loadBinding } from './adapters/bindings.js';
import { type CertificateFiles, checkCertificate } from './certificate.js';
import type { Spool } from './bodies/spool.js';
import { Origins } from './client-address.js';
import { type EdgeDrain, Edge, type UnderWay } from './edge.js';
import type { Health } from './system/health.js';
import { listenError } from './listen-error.js';
import { Load, type LoadOptions } from './load.js';
import type { Metrics } from './system/metrics.js';
import type { Dialect } from './port.js';
import { Router } from './router.js';
import type { PartReport } from './parts/part-state.js';
import type { Scraping } from './system/scraping.js';
import { systemDialect } from './system/system.js';
import { listenUws } from './adapters/uws.js';
import type { UwsModule } from './adapters/uws-module.js';

export type Stack = 'uws' | 'node';

export interface ListenOptions {
  /** `auto`: uWebSockets.js if it loads, else `node`; `uws`: the same, with a warning if it falls back to `node`. */
  readonly stack: Stack | 'auto';
  /** Where a copy of the native binding is kept if it has to be adapted to this machine; its parent exists. */
  readonly cacheFolder?: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** True with one gateway process; false: share the port by SO_REUSEPORT. */
  readonly exclusive: boolean;
  readonly tls?: CertificateFiles;
  readonly publicUrl?: string;
  /** Addresses or CIDR networks. */
  readonly trustedProxies: readonly string[];
  readonly dialects: readonly Dialect[];
  /** Absent: `/metrics` is for private networks only, and shows this process's figures. */
  readonly scraping?: Scraping;
  /** For `/health`. */
  readonly partReports?: () => readonly PartReport[];
  /** Returns the permission that a route needs. */
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly load?: LoadOptions;
  /** How long a drain is announced before new work is refused, at least (goodbye.ts); 0 by default. */
  readonly announceMs?: number;
  readonly metrics: Metrics;
  /** Absent: whatever waits is taken. */
  readonly memory?: MemoryLedger;
  /** For large files of bodies; absent: they stay in memory. */
  readonly spool?: Spool | undefined;
  readonly health: Health;
  /** Called when a request failed because storage is full. */
  readonly storageFull?: () => void;
}

export interface ListeningServer {
  readonly port: number;
  readonly stack: Stack;
  readonly underWay: UnderWay;
  /**
   * Announces it at /health and ends connections with their next answer for `announceMs`, or until `over` (default: never) has resolved;
   * then calls `refuses`, and answers 503 `draining`. Stops accepting connections once `calls` has resolved and the sockets of calls
   * have closed, or `callsUntil` (default `until`) has resolved. Waits for running work until `until` (default LIMITS.http.drainMs
   * from now), then closes sockets with 1012 and drops the rest.
   */
  drain(how?: Partial<Pick<EdgeDrain, 'calls' | 'callsUntil' | 'until' | 'over' | 'refuses'>>): Promise<void>;
  /** Drops everything at once. */
  close(): Promise<void>;
}

/** The binding that serves; undefined for the stack `node`. */
function chooseBinding({ stack: wanted, cacheFolder, log }: ListenOptions): Binding | undefined {
  if (wanted === 'node') return undefined;
  try {
    const binding = loadBinding({ cacheFolder });
    const how = binding.isAdapted ? ', adapted to the older glibc of this machine' : '';
    log.info({ stack: 'uws' }, `HTTP stack: uWebSockets.js ${binding.version}${how}`);
    return binding;
  } catch (error) {
    const line = `HTTP stack: node; ${(error as Error).message}`;
    // A warning only if uWebSockets.js was requested; otherwise this is normal on such a machine.
    log[wanted === 'uws' ? 'warn' : 'info']({ stack: 'node' }, line);
    return undefined;
  }
}

function checkSharing(stack: Stack, exclusive: boolean): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (stack === 'uws' || exclusive || major > 22 || (major === 22 && minor >= 12)) return;
  throw new Error('Several gateways on one port need Node 22.12 or HTTP_STACK=uws: set WORKERS=1');
}

/** Errors: an Error that names the port, the TLS file or the trusted proxy that is wrong. */
export async function listen(options: ListenOptions): Promise<ListeningServer> {
  const { clock, log, metrics, health, dialects, scraping, partReports } = options;
  const origins = new Origins(options.trustedProxies, options.publicUrl, options.tls !== undefined);
  const system = systemDialect({ health, metrics, scraping, partReports, dialects });
  const router = new Router(dialects, system);
  if (options.tls) await checkCertificate(options.tls);
  const uws = chooseBinding(options)?.module;
  const stack = uws ? 'uws' : 'node';
  checkSharing(stack, options.exclusive);
  const load = new Load(clock, options.load);
  const { ids, storageFull, memory = UNBOUNDED_MEMORY, spool } = options;
  const parts = { router, origins, system, ids, clock, log, load, metrics, memory, spool, health };
  const edge = new Edge(storageFull ? { ...parts, storageFull } : parts);
  const adapter = await open(uws, {
    ...options,
    memory,
    tls: options.tls,
    arrived: (arrival) => edge.arrived(arrival),
    unreadable: (error) => edge.unreadable(error),
    dropped: () => metrics.unreadable('none'),
  }).catch(async (error: unknown) => {
    load.stop();
    throw await listenError(error, options);
  });
  return {
    port: adapter.port,
    stack,
    get underWay() {
      return edge.underWay;
    },
    async drain({
      calls = Promise.resolve(),
      until = new Deadline(clock, LIMITS.http.drainMs).passed,
      callsUntil = until,
      over = new Promise(() => undefined),
      refuses = () => undefined,
    } = {}) {
      const { announceMs = 0 } = options;
      const stopAccepting = (): void => adapter.stopAccepting();
      const times = { announceMs, over, connections: adapter };
      await edge.drain({ ...times, refuses, calls, callsUntil, until, stopAccepting });
    },
    async close() {
      load.stop();
      adapter.stopAccepting();
      await edge.dropAll();
      await adapter.close();
    },
  };
}

/** Loads the stack on node:http only if it is used. */
async function open(uws: UwsModule | undefined, options: AdapterOptions): Promise<Adapter> {
  if (uws) return listenUws(uws, options);
  const { listenNode } = await import('./adapters/node.js');
  return listenNode(options);
}
