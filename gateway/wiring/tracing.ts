/**
 * Exports spans to an OpenTelemetry collector if the standard OTEL_* variables name one: the SDK is loaded only then
 * (0.1 to 0.2 s and 15 MB per gateway), and reads the rest of those variables itself. What a span may contain is
 * decided in gateway/server/tracing/trace.ts. Invariant: a collector that does not answer delays neither a request nor
 * the end of the process.
 */
import { trace } from '@opentelemetry/api';
import { systemClock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { waitUpTo } from '../../contracts/time/timeouts.js';
import { notInstalled } from '../config/installed.js';

export interface Tracing {
  /** Sends waiting spans, for a few seconds at most. Idempotent. */
  stop(): Promise<void>;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Optional: most installations export nothing. */
const PACKAGES = [
  '@opentelemetry/sdk-trace-base',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
];
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
/** OTEL_SERVICE_NAME replaces it. */
const SERVICE = 'speech-gateway';
const PATIENCE_MS = 3000;

const OFF: Tracing = { stop: () => Promise.resolve() };

const isWanted = (env: Env): boolean =>
  ENDPOINTS.some((name) => env[name]) &&
  env['OTEL_SDK_DISABLED']?.toLowerCase() !== 'true' &&
  env['OTEL_TRACES_EXPORTER'] !== 'none';

async function openProvider() {
  const [{ BasicTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const named = resources.resourceFromAttributes({ 'service.name': SERVICE });
  const told = resources.detectResources({ detectors: [resources.envDetector] });
  return new BasicTracerProvider({
    resource: resources.defaultResource().merge(named).merge(told),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
}

/** Exports spans if the variables ask for it and an SDK does not do so already (`node --import`). */
export async function startTracing(env: Env, log: Log): Promise<Tracing> {
  if (!isWanted(env)) return OFF;
  const missing = notInstalled(PACKAGES).join(' ');
  if (missing !== '') {
    log.warn({ missing }, 'spans are not exported: optional packages are not installed');
    return OFF;
  }
  const provider = await openProvider();
  const shutDown = () => provider.shutdown().catch(() => undefined);
  if (!trace.setGlobalTracerProvider(provider)) {
    await shutDown();
    return OFF;
  }
  let stopped: Promise<void> | undefined;
  return {
    stop: () => (stopped ??= waitUpTo(systemClock, PATIENCE_MS, shutDown())),
  };
}
