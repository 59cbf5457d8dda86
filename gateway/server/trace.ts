/**
 * W3C trace context on inference endpoints (spec.txt "Trace context"): a valid `traceparent` is continued, an
 * invalid or absent one starts a new trace. Spans go through OpenTelemetry's API, so an SDK that the operator
 * loads (`node --import`) exports them as its OTEL_* variables say, and without one they cost next to nothing.
 *
 * Invariants: names and attributes hold the route, the generation id, the status, the model and the engine, nothing else;
 * tracing changes no reply; a span ends once.
 */
import {
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { randomHex } from '../../contracts/ids.js';
import type { RequestTrace } from '../../contracts/ports/trace.js';
import type { HttpRequest } from './port.js';

const TRACER = 'speech-gateway';
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const UNKNOWN_VERSION = 'ff';
const LATEST_VERSION = '00';

/** The remote span that a `traceparent` names; undefined where it is not valid. */
export function parseTraceparent(header: string | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header ?? '') ?? [];
  if (version === undefined || version === UNKNOWN_VERSION) return undefined;
  if (version === LATEST_VERSION && more !== undefined) return undefined;
  const remote = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(remote) ? remote : undefined;
}

export const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `${LATEST_VERSION}-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/** Of a trace that begins here and that nobody records. */
const newContext = (): SpanContext => ({
  traceId: randomHex(16),
  spanId: randomHex(8),
  traceFlags: TraceFlags.NONE,
});

const contextOf = (remote: SpanContext | undefined): Context =>
  remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;

type Traced = Pick<HttpRequest, 'headers' | 'generationId' | 'method'>;

/** One request's part in a trace. */
export class Trace implements RequestTrace {
  readonly traceId: string;
  readonly traceparent: string;
  readonly #span: Span;
  #ended = false;

  /** `route` is the pattern, never the path. */
  constructor(request: Traced, route: string) {
    const remote = parseTraceparent(request.headers.get('traceparent'));
    const attributes = {
      'http.request.method': request.method,
      'http.route': route,
      'speech.generation_id': request.generationId,
    };
    const options = { kind: SpanKind.SERVER, attributes };
    this.#span = trace.getTracer(TRACER).startSpan(`${request.method} ${route}`, options, contextOf(remote));
    const own = this.#span.spanContext();
    const context = isSpanContextValid(own) ? own : newContext();
    this.traceId = context.traceId;
    this.traceparent = formatTraceparent(context);
  }

  engine(name: string): void {
    this.#span.setAttribute('speech.engine', name);
  }

  model(name: string): void {
    this.#span.setAttribute('speech.model', name);
  }

  /** Ends the span. `status` is the HTTP status. Idempotent. */
  end(status: number, outcome: 'done' | 'failed' | 'left'): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#span.setAttribute('http.response.status_code', status);
    if (outcome === 'failed') this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}
