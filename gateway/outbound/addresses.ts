/**
 * The test for public IP addresses (docs/contract/platform.md 6.5 rule 9). Only global unicast is public; IPv6 forms
 * that contain an IPv4 address are all refused, so that no private address gets through in disguise. Metadata services
 * are tested separately: no configuration allows them, in whatever form.
 */
import ipaddr from 'ipaddr.js';
import { METADATA_ADDRESSES } from '../../contracts/outbound/metadata-addresses.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressBlock = readonly [address: Address, bits: number];

const METADATA = METADATA_ADDRESSES.map((text) => ipaddr.parse(text));

/** IPv6 networks whose addresses contain an IPv4 address, and the two 16-bit parts with it. */
const WRAPPERS = (
  [
    ['::/96', 6, 7],
    ['::ffff:0:0/96', 6, 7],
    ['::ffff:0:0:0/96', 6, 7],
    ['64:ff9b::/96', 6, 7],
    ['64:ff9b:1::/48', 6, 7],
    ['2002::/16', 1, 2],
  ] as const
).map(([network, high, low]) => ({ network: ipaddr.IPv6.parseCIDR(network), high, low }));

/** ISATAP: any prefix, then `0:5efe` or `200:5efe`, then the address. */
const isIsatap = ({ parts }: ipaddr.IPv6): boolean =>
  parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);

/** Teredo addresses contain the client's address inverted. */
const isTeredo = ({ parts }: ipaddr.IPv6): boolean => parts[0] === 0x2001 && parts[1] === 0;

const ipv4Of = (high: number, low: number): ipaddr.IPv4 =>
  new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);

/** The IPv4 addresses that an IPv6 address contains. */
function wrapped(address: ipaddr.IPv6): readonly ipaddr.IPv4[] {
  const part = (index: number): number => address.parts[index] ?? 0;
  const wrappers = WRAPPERS.filter(({ network }) => address.match(network));
  const found = wrappers.map(({ high, low }) => ipv4Of(part(high), part(low)));
  if (isIsatap(address)) found.push(ipv4Of(part(6), part(7)));
  if (isTeredo(address)) found.push(ipv4Of(part(6) ^ 0xffff, part(7) ^ 0xffff));
  return found;
}

const isV6 = (address: Address): address is ipaddr.IPv6 => address.kind() === 'ipv6';

/** The address, and those that it contains. */
const allOf = (address: Address): readonly Address[] =>
  isV6(address) ? [address, ...wrapped(address)] : [address];

const same = (a: Address, b: Address): boolean => a.toNormalizedString() === b.toNormalizedString();

/** True for addresses that no configuration may allow. */
export const isMetadata = (address: Address): boolean =>
  allOf(address).some((one) => METADATA.some((known) => same(one, known)));

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** True for addresses of the public internet. */
export function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || isMetadata(address)) return false;
  return !isV6(address) || (address.match(GLOBAL_UNICAST) && wrapped(address).length === 0);
}

/** Parses an address as a resolver or a parsed URL writes it; undefined if it is none. A zone is dropped. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  return ipaddr.isValid(bare) ? ipaddr.parse(bare) : undefined;
}

/** Whether the network contains the address; an IPv4 network also contains IPv4-mapped IPv6 addresses. */
export function isWithin(address: Address, [network, bits]: AddressBlock): boolean {
  const plain = isV6(address) && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
  return plain.kind() === network.kind() && plain.match(network, bits);
}
