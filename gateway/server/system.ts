/** The server's own routes, in no API's shape: health, metrics, the interface description and its page. Never shed. */
import type { ServiceError } from '../../contracts/errors.js';
import { consoleRoutes } from './console.js';
import { docsRoutes } from './docs.js';
import type { Health } from './health.js';
import type { Metrics } from './metrics.js';
import { describeInterface } from './openapi.js';
import type { Dialect, Reply, Route } from './port.js';

const json = (status: number, value: unknown): Reply => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify(value),
});

const get = (path: string, answer: () => Reply | Promise<Reply>): Route => ({
  method: 'GET',
  path,
  handler: async () => answer(),
});

const readiness = (health: Health): Reply => {
  const report = health.report();
  return json(report.ready ? 200 : 503, report);
};

async function scrape({ registry }: Metrics): Promise<Reply> {
  return { status: 200, headers: { 'content-type': registry.contentType }, body: await registry.metrics() };
}

export function systemDialect(parts: {
  readonly health: Health;
  readonly metrics: Metrics;
  readonly dialects: readonly Dialect[];
}): Dialect {
  const describe = describeInterface(parts.dialects);
  return {
    name: 'system',
    prefixes: [],
    routes: [
      get('/health', () => readiness(parts.health)),
      get('/health/ready', () => readiness(parts.health)),
      get('/health/live', () => json(200, { live: true })),
      get('/metrics', () => scrape(parts.metrics)),
      {
        method: 'GET',
        path: '/openapi.json',
        handler: async (request) => json(200, describe(request.baseUrl)),
      },
      ...docsRoutes(),
      ...consoleRoutes(),
    ],
    errorReply: ({ status, message }: ServiceError) => json(status, { status, message }),
  };
}
