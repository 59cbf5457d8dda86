/** The server's own routes, which belong to no API and are never shed: health, metrics, console, widget, interface description and its page. */
import type { ServiceError } from '../../../contracts/errors.js';
import { takesGzip } from './built-file.js';
import { consoleRoutes } from './console.js';
import { docsRoutes } from './docs.js';
import type { Health } from './health.js';
import { homeRoute } from './home.js';
import type { Metrics } from './metrics.js';
import { describeInterface, INFO } from '../openapi/openapi.js';
import { InterfaceBytes } from '../openapi/openapi-bytes.js';
import type { PartReport } from '../parts/part-state.js';
import { entryOf } from '../parts/reports.js';
import type { Dialect, HttpRequest, Reply, Route } from '../port.js';
import { json } from '../replies.js';
import { admitScrape, isBearer, type Scraping } from './scraping.js';
import { widgetRoutes } from './widget.js';

const uncached = (status: number, value: object): Reply =>
  json(status, value, { 'cache-control': 'no-store' });

/** Addresses and settings are for those who may read `/metrics`, except by a key: that would ask the database. */
const seesDetails = (request: HttpRequest, { token }: Scraping): boolean =>
  request.fromPrivateNetwork || isBearer(request, token);

/**
 * `parts` end no readiness: a gateway whose language model is away still speaks. `?exclude=CHECK`, as Kubernetes' own
 * servers know it: a check that does not count for who asks.
 */
function readiness(
  { health, scraping = {}, partReports = () => [] }: SystemParts,
  request: HttpRequest,
): Reply {
  const report = health.report(request.query.getAll('exclude'));
  const parts = partReports().map((each) => entryOf(each, seesDetails(request, scraping)));
  return uncached(report.ready ? 200 : 503, { ...report, ...(parts.length > 0 && { parts }) });
}

const readinessRoute = (path: string, parts: SystemParts): Route => ({
  method: 'GET',
  path,
  permission: 'open',
  handler: async (request) => readiness(parts, request),
});

const metricsRoute = (metrics: Metrics, scraping: Scraping = {}): Route => ({
  method: 'GET',
  path: '/metrics',
  // For requests from outside private networks.
  permission: 'machine',
  sameOriginOnly: true,
  async handler(request) {
    await admitScrape(request, scraping);
    const { figures = async () => (await metrics.scraped()).metrics() } = scraping;
    const headers = { 'content-type': metrics.registry.contentType, 'cache-control': 'no-store' };
    return { status: 200, headers, body: await figures() };
  },
});

export interface SystemParts {
  readonly health: Health;
  readonly metrics: Metrics;
  readonly scraping?: Scraping | undefined;
  /** What is known of the operator's parts, in all processes. Default: nothing. */
  readonly partReports?: (() => readonly PartReport[]) | undefined;
  readonly dialects: readonly Dialect[];
}

const DESCRIPTION = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  vary: 'Accept-Encoding',
};

const descriptionRoute = (description: InterfaceBytes): Route => ({
  method: 'GET',
  path: '/openapi.json',
  permission: 'open',
  async handler(request) {
    const { baseUrl } = request;
    const packed = takesGzip(request) ? await description.packed(baseUrl) : undefined;
    return {
      status: 200,
      headers: { ...DESCRIPTION, ...(packed && { 'content-encoding': 'gzip' }) },
      body: packed ?? description.of(baseUrl),
    };
  },
});

export function systemDialect(parts: SystemParts): Dialect {
  const description = new InterfaceBytes(describeInterface(parts.dialects));
  const pages = consoleRoutes();
  return {
    name: 'system',
    prefixes: [],
    routes: [
      readinessRoute('/health', parts),
      readinessRoute('/health/ready', parts),
      {
        method: 'GET',
        path: '/health/live',
        permission: 'open',
        handler: async () => uncached(200, { live: true }),
      },
      metricsRoute(parts.metrics, parts.scraping),
      descriptionRoute(description),
      ...docsRoutes(),
      ...pages,
      ...widgetRoutes(),
      homeRoute(INFO.title, pages.length > 0 ? 'console' : 'docs'),
    ],
    errorReply: ({ status, message }: ServiceError) => uncached(status, { status, message }),
  };
}
