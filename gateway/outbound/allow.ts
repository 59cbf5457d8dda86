/**
 * OUTBOUND_ALLOW: private targets that the operator allows, for tests and local networks (docs/contract/decisions.md 8).
 * An entry is a host name, an address or a network, with or without a port: `crm.lan`, `crm.lan:8443`, `10.0.0.5`,
 * `10.0.0.0/8:8080`, `[fd00::/8]:443`. Metadata services stay forbidden.
 */
import ipaddr from 'ipaddr.js';
import { type Address, isWithin, type AddressBlock, parseAddress } from './addresses.js';

interface Entry {
  readonly port: number | undefined;
  readonly name?: string;
  readonly network?: AddressBlock;
}

export interface AllowedTargets {
  /** Whether the operator named this host. */
  name(host: string, port: number): boolean;
  address(address: Address, port: number): boolean;
}

const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;
/** Bracketed IPv6, or anything without a colon; then optionally a port. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/;

/** The network of an entry; undefined for short and octal forms of IPv4, which are more likely a typing error. */
function networkOf(target: string): AddressBlock | undefined {
  if (/^[\d.]+(?:\/|$)/.test(target) && !/^\d{1,3}(?:\.\d{1,3}){3}(?:\/\d+)?$/.test(target)) return undefined;
  const address = parseAddress(target);
  if (address) return [address, address.kind() === 'ipv4' ? 32 : 128];
  return ipaddr.isValidCIDR(target) ? ipaddr.parseCIDR(target) : undefined;
}

const hostOf = (text: string): string => text.toLowerCase().replace(/\.+$/, '');

function parseEntry(text: string): Entry {
  const [, bracketed, plain, digits] = WITH_PORT.exec(text) ?? [];
  const target = bracketed ?? plain ?? text;
  const port = digits === undefined ? undefined : Number(digits);
  const network = networkOf(target);
  const inRange = port === undefined || (port > 0 && port < 65_536);
  if (network && inRange) return { port, network };
  if (NAME.test(hostOf(target)) && !/^[\d.]+$/.test(target) && inRange) return { port, name: hostOf(target) };
  throw new Error(
    `OUTBOUND_ALLOW: "${text}" is no host, address or network (like crm.lan:8443 or 10.0.0.0/8)`,
  );
}

/** Errors: an Error that names the entry. */
export function parseAllowed(entries: readonly string[]): AllowedTargets {
  const rows = entries.map(parseEntry);
  const matches = (port: number, test: (entry: Entry) => boolean): boolean =>
    rows.some((entry) => (entry.port === undefined || entry.port === port) && test(entry));
  return {
    name: (host, port) => matches(port, ({ name }) => name === hostOf(host)),
    address: (address, port) =>
      matches(port, ({ network }) => network !== undefined && isWithin(address, network)),
  };
}
