/**
 * A gateway in a process of its own, one of WORKERS that share the port. Through its socket the supervisor knows that
 * it is up, and the other gateways ask for its figures. It drains when the supervisor asks it to leave.
 */
import { dirname } from 'node:path';
import { childPlace, refuseStart, serveAsChild } from '../../processes/child/child.js';
import { socketOf } from '../../processes/channel/socket-path.js';
import { readConfig } from '../config.js';
import { type Resources, startGateway } from '../gateway.js';
import { drainMs, LET_GO_MS } from '../wiring/drain.js';
import { explain } from '../wiring/explain.js';
import { createLog } from '../wiring/log.js';
import { takeStrays } from '../wiring/logging/strays.js';

const config = readConfig(process.env);
const resources = JSON.parse(process.env['GATEWAY_RESOURCES'] ?? '') as Resources;
const { role, socketPath, index } = childPlace();
const peers = Array.from({ length: config.workers }, (_, index) =>
  socketOf(dirname(socketPath), role, index),
).filter((socket) => socket !== socketPath);
// Lines of all the processes are in one log.
const log = createLog(config.logLevel).child({ process: process.pid });
takeStrays(log);
const gateway = await startGateway(config, { ...resources, peers, isFirst: index === 0 }, log).catch(
  (error: unknown) => refuseStart(explain(error)),
);
await serveAsChild({
  handlers: gateway.jobs,
  slots: 1,
  ready: gateway.ready,
  graceMs: drainMs(config) + LET_GO_MS,
  beforeLeaving: () => gateway.stop(),
  hurry: () => gateway.hurry(),
});
