/**
 * `/`: redirects browsers to the console, and tells all other clients the service's name, its version, and the address of
 * its interface description.
 */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import type { HttpRequest, Reply, Route } from '../port.js';
import { json } from '../replies.js';

const PACKAGE = new URL('package.json', CHECKOUT);

const versionOf = (): string => (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version;

/** Only browsers accept HTML by name. */
const isBrowser = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  /\btext\/html\b/i.test(headers.get('accept') ?? '');

const VARY = { vary: 'Accept', 'cache-control': 'no-cache' };

/** `page`: redirect target for browsers, relative, so that it works behind a proxy's path prefix. */
export function homeRoute(name: string, page: string): Route {
  const version = versionOf();
  const greeting = ({ baseUrl }: HttpRequest): Reply =>
    json(200, { name, version, docs: `${baseUrl}/docs` }, VARY);
  return {
    method: 'GET',
    path: '/',
    permission: 'open',
    handler: async (request) =>
      isBrowser(request) ? { status: 302, headers: { location: page, ...VARY } } : greeting(request),
  };
}
