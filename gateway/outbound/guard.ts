/**
 * The guard of outbound URLs against SSRF (docs/contract/platform.md 6.5 rule 9): no localhost, no private network, no cloud
 * metadata endpoint, no credentials in the URL. Each is judged twice: as written, when it is
 * saved and before each hop; and by every address that its host name resolves to. It is parsed by the parser that the
 * connection uses too, which turns odd spellings of addresses (decimal, octal, hexadecimal, wide digits) into plain ones.
 */
import type { AllowedTargets } from './allow.js';
import { type Address, isMetadata, isPublic, parseAddress } from './addresses.js';

/** One hop: where to connect. */
export interface Target {
  readonly url: URL;
  /** Without brackets and trailing dots. */
  readonly host: string;
  readonly port: number;
  /** Present if the host is an address. */
  readonly literal?: Address;
  /** Whether the operator named the host. */
  readonly named: boolean;
}

export type GuardVerdict = { readonly refusal: string } | { readonly target: Target };

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Endings of names that no public host has. */
const PRIVATE_NAMES =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa|metadata\.goog)$/;

/** Blanks, control characters and backslashes, which different parsers read differently. */
// oxlint-disable-next-line no-control-regex
const AMBIGUOUS = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029\\]/;
const USERINFO = /^[a-z][a-z0-9+.-]*:\/*[^/?#]*@/i;

const refuse = (refusal: string): GuardVerdict => ({ refusal });

/** The longest host name of the DNS, in characters, without its trailing dot. */
export const MOST_HOST = 253;

const withoutDots = (host: string): string => host.replace(/\.+$/, '');

/** The reason why an address is refused; undefined if it is allowed. */
export function addressRefusal(address: Address, port: number, allowed: AllowedTargets, named = false) {
  if (isMetadata(address)) return 'must not point to a metadata service';
  if (isPublic(address) || named || allowed.address(address, port)) return undefined;
  return 'must not point to a private or reserved address';
}

/** Whether the address is https, or the operator's own network. */
export const isSecure = ({ url, named, literal, port }: Target, allowed: AllowedTargets): boolean =>
  url.protocol === 'https:' || named || (literal !== undefined && allowed.address(literal, port));

function nameRefusal(host: string): string | undefined {
  if (PRIVATE_NAMES.test(host)) return 'must not point to a local or private host';
  if (!host.includes('.')) return 'must name a public host';
  return undefined;
}

const ADVISED = /private/;

/** A refusal of something that an operator may allow says how. */
const advised = (refusal: string, host: string, port: number): string =>
  ADVISED.test(refusal)
    ? `${refusal}. If that is meant, start the gateway with OUTBOUND_ALLOW=${host.includes(':') ? `[${host}]` : host}:${port}`
    : refusal;

/** Judges a URL as written. */
export function judge(text: string, allowed: AllowedTargets): GuardVerdict {
  if (AMBIGUOUS.test(text)) return refuse('must not hold blanks, control characters or backslashes');
  if (USERINFO.test(text)) return refuse('must not hold credentials');
  if (!URL.canParse(text)) return refuse('must be an absolute http or https URL');
  const url = new URL(text);
  const standard = PORTS[url.protocol];
  if (standard === undefined) return refuse('must be an absolute http or https URL');
  if (url.hostname.length > MOST_HOST + (url.hostname.endsWith('.') ? 1 : 0))
    return refuse('must have a host name of at most 253 characters');
  const host = withoutDots(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  const port = url.port === '' ? standard : Number(url.port);
  if (host === '' || port === 0) return refuse('must have a host and a port');
  const named = allowed.name(host, port);
  const literal = parseAddress(host);
  const refusal = literal
    ? addressRefusal(literal, port, allowed, named)
    : named
      ? undefined
      : nameRefusal(host);
  return refusal === undefined
    ? { target: { url, host, port, ...(literal && { literal }), named } }
    : { refusal: advised(refusal, host, port) };
}
