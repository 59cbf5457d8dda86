/** The server's own routes, which belong to no API and are never shed: health, metrics, console, interface description and its page. */
import type { ServiceError } from '../../../contracts/errors.js';
import { consoleRoutes } from './console.js';
import { docsRoutes } from './docs.js';
import type { Health } from './health.js';
import { homeRoute } from './home.js';
import type { Metrics } from './metrics.js';
import { describeInterface, INFO, interfaceBytes } from '../openapi/openapi.js';
import type { Dialect, Reply, Route } from '../port.js';
import { json } from '../replies.js';
import type { PermissionOf } from '../router.js';
import { admitScrape, type Scraping } from './scraping.js';

const uncached = (status: number, value: object): Reply =>
  json(status, value, { 'cache-control': 'no-store' });

const get = (path: string, answer: () => Reply | Promise<Reply>): Route => ({
  method: 'GET',
  path,
  handler: async () => answer(),
});

const readiness = (health: Health): Reply => {
  const report = health.report();
  return uncached(report.ready ? 200 : 503, report);
};

const metricsRoute = (metrics: Metrics, scraping: Scraping = {}): Route => ({
  method: 'GET',
  path: '/metrics',
  sameOriginOnly: true,
  async handler(request) {
    await admitScrape(request, scraping);
    const { figures = async () => (await metrics.scraped()).metrics() } = scraping;
    const headers = { 'content-type': metrics.registry.contentType, 'cache-control': 'no-store' };
    return { status: 200, headers, body: await figures() };
  },
});

export function systemDialect(parts: {
  readonly health: Health;
  readonly metrics: Metrics;
  readonly scraping?: Scraping | undefined;
  readonly dialects: readonly Dialect[];
  readonly permissionOf?: PermissionOf | undefined;
}): Dialect {
  const description = interfaceBytes(describeInterface(parts.dialects, parts.permissionOf));
  const pages = consoleRoutes();
  return {
    name: 'system',
    prefixes: [],
    routes: [
      get('/health', () => readiness(parts.health)),
      get('/health/ready', () => readiness(parts.health)),
      get('/health/live', () => uncached(200, { live: true })),
      metricsRoute(parts.metrics, parts.scraping),
      {
        method: 'GET',
        path: '/openapi.json',
        handler: async (request) => ({
          status: 200,
          headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
          body: description(request.baseUrl),
        }),
      },
      ...docsRoutes(),
      ...pages,
      homeRoute(INFO.title, pages.length > 0 ? 'console' : 'docs'),
    ],
    errorReply: ({ status, message }: ServiceError) => uncached(status, { status, message }),
  };
}
