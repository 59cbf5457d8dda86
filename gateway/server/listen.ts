/**
 * Opens the server: chooses the adapter, checks what can be checked before a port is taken, and returns the
 * handle by which the wiring drains and closes it. `uws` falls back to `node`, with one loud line, where the
 * native binding does not load; the package's own JavaScript imitation of it is never used.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../contracts/clock.js';
import type { Ids } from '../../contracts/ids.js';
import type { Log } from '../../contracts/log.js';
import type { Adapter, AdapterOptions } from './adapter.js';
import { Origins } from './client-address.js';
import { Edge } from './edge.js';
import type { Health } from './health.js';
import { Load, type LoadOptions } from './load.js';
import type { Metrics } from './metrics.js';
import { listenNode } from './node.js';
import type { Dialect } from './port.js';
import { Router } from './router.js';
import { systemDialect } from './system.js';
import { listenUws, UWS_ENVIRONMENT, type UwsModule } from './uws.js';

export type Stack = 'uws' | 'node';

export interface ListenOptions {
  readonly stack: Stack;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** True with one gateway process; false shares the port by SO_REUSEPORT. */
  readonly exclusive: boolean;
  /** PEM files. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  readonly publicUrl?: string;
  /** Addresses or CIDR networks. */
  readonly trustedProxies: readonly string[];
  readonly dialects: readonly Dialect[];
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly load?: LoadOptions;
  readonly metrics: Metrics;
  readonly health: Health;
}

export interface Listening {
  readonly port: number;
  readonly stack: Stack;
  /**
   * Takes no more connections, answers 503 `draining` on those that are kept alive, waits up to `ms`
   * (LIMITS.http.drainMs) for what is under way, then closes sockets with 1012 and drops the rest.
   */
  drain(ms?: number): Promise<void>;
  /** Drops everything at once. */
  close(): Promise<void>;
}

/** The package as published for us, and as its author tags it. */
const BINDING_FOLDERS = ['uWebSockets.js/binaries', 'uWebSockets.js'];

/** The native binding. Throws where there is none for this platform and Node version. */
export function loadUws(): UwsModule {
  const require = createRequire(import.meta.url);
  Object.assign(process.env, UWS_ENVIRONMENT);
  const file = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  let failure: unknown;
  for (const folder of BINDING_FOLDERS) {
    try {
      return require(`${folder}/${file}`) as UwsModule;
    } catch (error) {
      failure ??= error;
    }
  }
  throw new Error(`no native uWebSockets.js for Node ${process.version} on this platform`, {
    cause: failure,
  });
}

function chooseUws(stack: Stack, log: Log): UwsModule | undefined {
  if (stack === 'node') return undefined;
  try {
    return loadUws();
  } catch (err) {
    log.warn({ err }, 'HTTP_STACK=uws does not load here: serving with the slower node stack instead');
    return undefined;
  }
}

/** Rejects with a line that names the file at fault. */
async function checkCertificate(tls: NonNullable<ListenOptions['tls']>): Promise<void> {
  const read = (file: string): Promise<Buffer> =>
    readFile(file).catch((cause: unknown) => {
      throw new Error(`Cannot read the TLS file ${file}`, { cause });
    });
  const [cert, key] = await Promise.all([read(tls.certFile), read(tls.keyFile)]);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new Error(`${tls.certFile} and ${tls.keyFile} are not a certificate and its key`, { cause });
  }
}

const REASONS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (_host, port) => `Port ${port} is taken by another process`,
  EACCES: (_host, port) => `Not allowed to listen on port ${port}`,
  EADDRNOTAVAIL: (host, port) => `${host} is not an address of this machine (port ${port})`,
  ENOTFOUND: (host, port) => `The host ${host} is not known (port ${port})`,
};

/** Why listening fails, asked of a plain socket: uWebSockets.js only says that it did. */
const probe = (host: string, port: number): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve('EADDRINUSE')));
  });

async function listenError(error: unknown, { host, port }: ListenOptions): Promise<Error> {
  const code = (error as NodeJS.ErrnoException).code ?? (await probe(host, port));
  const reason = REASONS[code]?.(host, port) ?? `Cannot listen on ${host} port ${port} (${code})`;
  return new Error(reason, { cause: error });
}

function checkSharing(stack: Stack, exclusive: boolean): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (stack === 'uws' || exclusive || major > 22 || (major === 22 && minor >= 12)) return;
  throw new Error('Several gateways on one port need Node 22.12 or HTTP_STACK=uws: set WORKERS=1');
}

/** Errors: an Error that names the port, the TLS file or the trusted proxy that is wrong. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { clock, log, metrics, health, dialects } = options;
  const origins = new Origins(options.trustedProxies, options.publicUrl, options.tls !== undefined);
  const system = systemDialect({ health, metrics, dialects });
  const router = new Router(dialects, system);
  if (options.tls) await checkCertificate(options.tls);
  const uws = chooseUws(options.stack, log);
  const stack = uws ? 'uws' : 'node';
  checkSharing(stack, options.exclusive);
  const load = new Load(clock, options.load);
  const edge = new Edge({ router, origins, system, ids: options.ids, clock, log, load, metrics, health });
  const adapter = await open(uws, {
    ...options,
    tls: options.tls,
    arrived: (arrival) => edge.arrived(arrival),
  }).catch(async (error: unknown) => {
    load.stop();
    throw await listenError(error, options);
  });
  return {
    port: adapter.port,
    stack,
    async drain(ms) {
      adapter.stopAccepting();
      await edge.drain(ms);
    },
    async close() {
      load.stop();
      adapter.stopAccepting();
      edge.dropAll();
      await adapter.close();
    },
  };
}

const open = (uws: UwsModule | undefined, options: AdapterOptions & { clock: Clock }): Promise<Adapter> =>
  uws ? listenUws(uws, options) : listenNode(options);
