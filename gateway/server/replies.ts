/** Replies of one form. */
import { stringify } from '../../contracts/text/raw-json.js';
import type { Reply, Route } from './port.js';

/** A JSON reply; a `RawJson` in the value is sent unchanged. */
export const json = (status: number, value: object, headers: Reply['headers'] = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: stringify(value),
});

/** Leads from a page's address with a slash too many to the page: relative, so that it holds behind a proxy's prefix. */
export const withoutSlash = (page: string): Route => ({
  method: 'GET',
  path: `${page}/`,
  permission: 'open',
  handler: async () => ({ status: 308, headers: { location: `..${page}`, 'cache-control': 'no-cache' } }),
});
