/**
 * Follows redirects as the fetch standard does: 303 makes a GET of any request, 301 and 302 of a POST, the others keep
 * method and body. Headers that the owner stored are sent only to the origin that they were stored for, and https never
 * becomes http.
 */
import { OutboundError, type OutboundReply, type OutboundRequest } from '../../contracts/ports/outbound.js';

const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308]);

const becomesGet = (status: number, method: Hop['method']): boolean =>
  status === 303 || (method === 'POST' && (status === 301 || status === 302));

export type Hop = Pick<OutboundRequest, 'method' | 'url' | 'headers' | 'body'>;

export const refused = (reason: string): OutboundError =>
  new OutboundError('refused', `The address ${reason}`);

/** The request to make next; undefined if the response is no redirect. Errors: `OutboundError`. */
export function nextHop(
  hop: Hop,
  { status, headers }: Pick<OutboundReply, 'status' | 'headers'>,
): Hop | undefined {
  const location = headers['location'];
  if (location === undefined || !REDIRECT_STATUS.has(status)) return undefined;
  if (!URL.canParse(location, hop.url)) throw refused('of the redirect is malformed');
  const from = new URL(hop.url);
  const to = new URL(location, from);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw refused('must not redirect from https to http');
  const ofBody = hop.headers.filter(([name]) => name.toLowerCase() === 'content-type');
  const kept = to.origin === from.origin ? hop.headers : ofBody;
  to.hash = '';
  return becomesGet(status, hop.method)
    ? { method: 'GET', url: to.href, headers: kept.filter((header) => !ofBody.includes(header)) }
    : { ...hop, url: to.href, headers: kept };
}
