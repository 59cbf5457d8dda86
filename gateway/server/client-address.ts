/**
 * The client's address and the base URL by which a request reached us (docs/contract/decisions.md 7). Forwarded
 * headers count only if the peer is a trusted proxy: X-Forwarded-For is read from the right, past all trusted
 * addresses, so that entries added by a client are never believed. PUBLIC_URL wins over all of this for the base URL.
 */
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Subnet = [Address, number];
type Headers = ReadonlyMap<string, string>;

/** Headers written by proxies: a request with one of these does not originate from its peer. */
const FORWARDING = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'via',
];
const PRIVATE_RANGES: readonly string[] = ['loopback', 'private', 'uniqueLocal', 'linkLocal'];

/** Most entries of X-Forwarded-For that are read, from the right; no chain of proxies is longer. */
const MOST_HOPS = 32;

const HOST = /^[A-Za-z0-9._~:[\]%-]{1,255}$/;

/** Texts of addresses whose meaning is kept: peers come again with each request, proxies with those of all clients. */
const KEPT = 4096;
/** No longer text is kept, nor is any an address. */
const ADDRESS_LENGTH = 64;

interface Parsed {
  readonly address: Address | undefined;
  /** In its usual spelling; other text stays as it is. */
  readonly usual: string;
}

function parsedAnew(text: string): Parsed {
  const address = ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
  return { address, usual: address?.toString() ?? text };
}

const known = new LRUCache<string, Parsed>({ max: KEPT });

function parsed(text: string): Parsed {
  const before = known.get(text);
  if (before) return before;
  const anew = parsedAnew(text);
  if (text.length <= ADDRESS_LENGTH) known.set(text, anew);
  return anew;
}

/** Undefined if the text is no address. IPv4-mapped IPv6 becomes IPv4. */
const parse = (text: string): Address | undefined => parsed(text).address;

const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|(\d+(?:\.\d+){3}):\d{1,5})$/;

/** Parses an entry of X-Forwarded-For; some proxies write the client's port as well (`192.0.2.1:4711`, `[2001:db8::1]:4711`). */
function parseEntry(entry: string): Address | undefined {
  const text = entry.trim();
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  return parse(bracketed ?? dotted ?? text);
}

const whole = (address: Address): Subnet => [address, address.kind() === 'ipv4' ? 32 : 128];

function parseSubnet(text: string): Subnet {
  try {
    return text.includes('/') ? ipaddr.parseCIDR(text) : whole(ipaddr.process(text));
  } catch (cause) {
    throw new Error(`TRUSTED_PROXIES: "${text}" is neither an address nor a network (like 10.0.0.0/8)`, {
      cause,
    });
  }
}

/** Throws an Error that names an entry that is neither an address nor a CIDR network. */
export const parseProxies = (entries: readonly string[]): readonly Subnet[] => entries.map(parseSubnet);

const lastOf = (list: string | undefined): string => list?.split(',').at(-1)?.trim() ?? '';

/** The unit of limits per client: an IPv4 address, or an IPv6 client's /64 network. */
export function networkOf(clientAddress: string): string {
  const address = parse(clientAddress);
  if (address?.kind() !== 'ipv6') return address?.toString() ?? clientAddress;
  const network = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

export class Origins {
  readonly #trusted: readonly Subnet[];

  /** Errors: as `parseProxies`. */
  constructor(
    trustedProxies: readonly string[],
    private readonly publicUrl: string | undefined,
    private readonly secure: boolean,
  ) {
    this.#trusted = parseProxies(trustedProxies);
  }

  /** The client's address in its usual spelling. */
  clientAddress(peer: string, headers: Headers): string {
    const { address: direct, usual } = parsed(peer);
    const forwarded = direct && this.#trusts(direct) ? headers.get('x-forwarded-for') : undefined;
    return direct && forwarded !== undefined ? this.#lastUntrusted(direct, forwarded).toString() : usual;
  }

  /**
   * Whether the client is on this machine or a private network; false if that is uncertain. For forwarded requests only
   * a trusted proxy's X-Forwarded-For counts, and only if all of its entries are addresses.
   */
  isPrivate(peer: string, headers: Headers): boolean {
    const direct = parse(peer);
    if (!direct) return false;
    const client = FORWARDING.some((name) => headers.has(name)) ? this.#forwarded(direct, headers) : direct;
    return client !== undefined && PRIVATE_RANGES.includes(client.range());
  }

  /** The base URL, without a slash at the end. */
  baseUrl(peer: string, headers: Headers): string {
    if (this.publicUrl !== undefined) return this.publicUrl;
    const direct = this.#trusted.length > 0 ? parse(peer) : undefined;
    const proxied = direct !== undefined && this.#trusts(direct);
    const scheme = proxied ? lastOf(headers.get('x-forwarded-proto')).toLowerCase() : '';
    const host = proxied ? lastOf(headers.get('x-forwarded-host')) : '';
    const own = this.secure ? 'https' : 'http';
    return `${scheme === 'http' || scheme === 'https' ? scheme : own}://${HOST.test(host) ? host : headers.get('host')}`;
  }

  #trusts(address: Address): boolean {
    return this.#trusted.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  }

  #forwarded(direct: Address, headers: Headers): Address | undefined {
    const forwarded = headers.get('x-forwarded-for');
    if (forwarded === undefined || !this.#trusts(direct)) return undefined;
    const entries = forwarded.split(',', MOST_HOPS + 1);
    const isWhole = entries.length <= MOST_HOPS && entries.every((entry) => parseEntry(entry) !== undefined);
    return isWhole ? this.#lastUntrusted(direct, forwarded) : undefined;
  }

  #lastUntrusted(direct: Address, forwarded: string): Address {
    let client = direct;
    for (const entry of forwarded.split(',').slice(-MOST_HOPS).reverse()) {
      const address = parseEntry(entry);
      if (!address) return client;
      client = address;
      if (!this.#trusts(address)) return client;
    }
    return client;
  }
}
