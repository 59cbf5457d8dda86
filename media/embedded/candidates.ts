/**
 * Filters the ICE candidates of clients. A candidate is an address that we send checks to, so a client could have us
 * probe any host: only addresses that may be its own are accepted, few of them, and at a limited rate. A refused one costs
 * a client nothing: it sends checks to us as well, and ICE discovers where they come from.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { TokenBucket } from '../../contracts/limits/token-bucket.js';
import { LIMITS } from '../../contracts/limits.js';
import { METADATA_ADDRESSES } from '../../contracts/outbound/metadata-addresses.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = ReturnType<Address['range']>;

/** `candidate:<foundation> <component> udp <priority> <address> <port> typ <kind> …`, exactly one line. */
const CANDIDATE =
  /^(?:a=)?candidate:\S{1,32} \d{1,3} udp \d{1,10} (\S{1,64}) (\d{1,5}) typ \w{1,8}(?: [^\r\n]{0,256})?$/i;
const CANDIDATE_LINES = /^a=candidate:.*(?:\r\n|$)/gm;
const ALL_LINES = /^a=(?:candidate:|end-of-candidates).*\r?\n/gm;

const PUBLIC: readonly Range[] = ['unicast'];
const PRIVATE: readonly Range[] = [...PUBLIC, 'private', 'uniqueLocal', 'carrierGradeNat'];

/** Address ranges that a client may name, by the range of its own address. */
const REACH: Readonly<Partial<Record<Range, readonly Range[]>>> = {
  loopback: [...PRIVATE, 'linkLocal', 'loopback'],
  linkLocal: [...PRIVATE, 'linkLocal'],
  private: PRIVATE,
  uniqueLocal: PRIVATE,
};

/** Lower ports belong to system services; no client's media comes from there. */
const FIRST_PORT = 1024;
const LAST_PORT = 65_535;

/** Undefined if it is not an address: names, behind which browsers hide their addresses, are not looked up. */
const parse = (text: string): Address | undefined => (isIP(text) === 0 ? undefined : ipaddr.process(text));

const METADATA = new Set<string>(METADATA_ADDRESSES.map((text) => ipaddr.parse(text).toString()));

/** Address and port of a candidate that a client from `from` may name; undefined for any other. */
export function destinationOf(candidate: string, from: string): string | undefined {
  const [, host = '', port = ''] = CANDIDATE.exec(candidate) ?? [];
  const address = parse(host);
  if (!address || Number(port) < FIRST_PORT || Number(port) > LAST_PORT) return undefined;
  const reach = REACH[parse(from)?.range() ?? 'unicast'] ?? PUBLIC;
  const shown = address.toString();
  return reach.includes(address.range()) && !METADATA.has(shown) ? `${shown} ${port}` : undefined;
}

/** Whether a candidate of one connection is accepted. */
export type Admits = (candidate: string) => boolean;

/** Candidate limits of one call, over all its connections. */
export class RemoteCandidates {
  readonly #rateLimit: TokenBucket;
  #left: number = LIMITS.ice.perCall;

  /** `now`: milliseconds, monotonic. */
  constructor(now: () => number) {
    this.#rateLimit = new TokenBucket(LIMITS.ice.rate, now);
  }

  /** The filter for one connection. `from`: the client's address; empty if it is not certain. */
  ofConnection(from: string): Admits {
    const known = new Set<string>();
    return (candidate) => {
      const destination = destinationOf(candidate, from);
      if (destination === undefined || known.has(destination)) return false;
      if (known.size >= LIMITS.ice.perConnection || this.#left < 1 || !this.#rateLimit.take()) return false;
      known.add(destination);
      this.#left -= 1;
      return true;
    };
  }
}

/** A description without refused candidates. */
export const withAdmitted = (sdp: string, admits: Admits): string =>
  sdp.replace(CANDIDATE_LINES, (line) => (admits(line.trimEnd()) ? line : ''));

/** A description that names no candidates, nor that there are no more. */
export const withoutCandidates = (sdp: string): string => sdp.replace(ALL_LINES, '');
