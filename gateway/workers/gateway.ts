/**
 * A gateway in a process of its own, one of WORKERS that share the port. It serves no jobs: its socket only
 * tells the supervisor that it is up, and SIGTERM drains it.
 */
import { LIMITS } from '../../contracts/limits.js';
import { serveAsChild } from '../../processes/child.js';
import { readConfig } from '../config.js';
import { type Resources, startGateway } from '../gateway.js';
import { createLog } from '../log.js';

/** Behind the drain: what the gateway holds is let go of. */
const LET_GO_MS = 4000;

const config = readConfig(process.env);
const resources = JSON.parse(process.env['GATEWAY_RESOURCES'] ?? '') as Resources;
const gateway = await startGateway(config, resources, createLog(config.logLevel));
await serveAsChild({
  ...{ handlers: {}, slots: 1, ready: gateway.ready },
  graceMs: LIMITS.http.drainMs + LET_GO_MS,
  beforeLeaving: () => gateway.stop(),
});
