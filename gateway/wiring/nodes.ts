/** Wires this process as a node among those that share its database. */
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { CHECKOUT } from '../../contracts/places.js';
import { NODE_STATES, stateOf } from '../../contracts/ports/calls/nodes.js';
import type { OwnNode } from '../../storage/nodes.js';
import type { Config } from '../config.js';
import type { Metrics } from '../server/system/metrics.js';
import { urlHost } from './url-host.js';

export const VERSION = (
  JSON.parse(readFileSync(new URL('package.json', CHECKOUT), 'utf8')) as { readonly version: string }
).version;

const ANY = new Set(['0.0.0.0', '::', '']);

const LINK_LOCAL = /^fe80:/i;

/** The first address that other machines may reach; IPv6 only where that is bound, and there is no other. */
export function ownAddress(host: string, interfaces = networkInterfaces()): string {
  const addresses = Object.values(interfaces)
    .flatMap((each) => each ?? [])
    .filter(({ internal, address }) => !internal && !LINK_LOCAL.test(address));
  const first = (wanted: string) => addresses.find(({ family }) => family === wanted)?.address;
  return first('IPv4') ?? (host === '::' ? first('IPv6') : undefined) ?? '127.0.0.1';
}

/** This node's address for other nodes. */
export function nodeUrl(
  { nodeUrl: told, host, tlsCert }: Pick<Config, 'nodeUrl' | 'host' | 'tlsCert'>,
  port: number,
): string {
  if (told !== undefined) return told.replace(/\/+$/, '');
  const name = ANY.has(host) ? ownAddress(host) : host;
  return `${tlsCert === undefined ? 'http' : 'https'}://${urlHost(name)}:${port}`;
}

export function addNodeMetrics(metrics: Metrics, node: Pick<OwnNode, 'known'>, places: number | null): void {
  metrics.gauge(
    'nodes',
    'Gateway processes that share the database, by state',
    () =>
      NODE_STATES.map((state) => ({
        labels: { state },
        value: node.known.filter((each) => stateOf(each) === state).length,
      })),
    ['state'],
    'max',
  );
  metrics.gauge('call_places', 'Most calls that gateway processes take', () =>
    places === null ? [] : [{ labels: {}, value: places }],
  );
}
