/**
 * A gateway in a process of its own, one of WORKERS that share the port. It serves no jobs: its socket only
 * tells the supervisor that it is up, and SIGTERM drains it.
 */
import { serveAsChild } from '../../processes/child.js';
import { readConfig } from '../config.js';
import { type Resources, startGateway } from '../gateway.js';
import { createLog } from '../log.js';

const config = readConfig(process.env);
const resources = JSON.parse(process.env['GATEWAY_RESOURCES'] ?? '') as Resources;
const gateway = await startGateway(config, resources, createLog(config.logLevel));
await serveAsChild({ handlers: {}, slots: 1, ready: gateway.ready });
