/**
 * W3C trace context on inference endpoints (docs/contract/native.md 6): a valid `traceparent` is continued, an
 * invalid or absent one starts a new trace. Spans go through OpenTelemetry's API, so an SDK that the operator
 * loads (`node --import`) exports them as its OTEL_* variables say, and without one they cost next to nothing.
 *
 * Invariants: span names and attributes contain only method, route, generation id, status, model and engine; tracing
 * changes no reply; a span ends once.
 */
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { randomHex } from '../../../contracts/ids.js';
import type { RequestTrace, TraceContext } from '../../../contracts/ports/trace.js';
import type { HttpRequest } from '../port.js';
import { parseTracestate } from './trace-state.js';

/** How a request ended. `left`: its client left first; `drained`: the server closed before it had ended. */
export type RequestOutcome = 'done' | 'failed' | 'left' | 'drained';

const TRACER = 'speech-gateway';

export const tracer = (): Tracer => trace.getTracer(TRACER);

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const UNKNOWN_VERSION = 'ff';
const LATEST_VERSION = '00';
/** The flags `sampled` and `random` (level 2: others may rely on the trace id's randomness). No other flag is passed on. */
const KNOWN_FLAGS = 0b11;

/** The remote span that a `traceparent` names; undefined if the header is invalid. */
export function parseTraceparent(header: string | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header ?? '') ?? [];
  if (version === undefined || version === UNKNOWN_VERSION) return undefined;
  if (version === LATEST_VERSION && more !== undefined) return undefined;
  const remote = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & KNOWN_FLAGS, isRemote: true };
  return isSpanContextValid(remote) ? remote : undefined;
}

export const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `${LATEST_VERSION}-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/** The context passed on for a request that nobody records: a new span id in the request's trace, or in a new trace. */
const unrecorded = (remote: SpanContext | undefined): SpanContext => ({
  traceId: remote?.traceId ?? randomHex(16),
  spanId: randomHex(8),
  traceFlags: remote?.traceFlags ?? TraceFlags.NONE,
});

/** The remote span with its state, for an SDK; the SDK's parser of the state is stricter than ours. */
const withState = (span: SpanContext, state: string | undefined): SpanContext =>
  state === undefined ? span : { ...span, traceState: createTraceState(state) };

/** The span's own context, with the random flag of its trace, which SDKs do not know. */
const recorded = (own: SpanContext, remote: SpanContext | undefined): SpanContext => ({
  ...own,
  traceFlags: own.traceFlags | ((remote?.traceFlags ?? 0) & ~TraceFlags.SAMPLED),
});

const contextOf = (remote: SpanContext | undefined, state: string | undefined): Context =>
  remote ? trace.setSpanContext(ROOT_CONTEXT, withState(remote, state)) : ROOT_CONTEXT;

type Traced = Pick<HttpRequest, 'headers' | 'generationId' | 'method'>;

/** One request's part in a trace. */
export class Trace implements RequestTrace {
  readonly traceId: string;
  readonly context: TraceContext;
  readonly #span: Span;
  #ended = false;

  /** `route` is the pattern, never the path. */
  constructor(request: Traced, route: string) {
    const remote = parseTraceparent(request.headers.get('traceparent'));
    const tracestate = remote && parseTracestate(request.headers.get('tracestate'));
    const attributes = {
      'http.request.method': request.method,
      'http.route': route,
      'speech.generation_id': request.generationId,
    };
    const options = { kind: SpanKind.SERVER, attributes };
    this.#span = tracer().startSpan(`${request.method} ${route}`, options, contextOf(remote, tracestate));
    const own = this.#span.spanContext();
    // Without an SDK, a span has the context of its parent.
    const isRecorded = isSpanContextValid(own) && own.spanId !== remote?.spanId;
    const context = isRecorded ? recorded(own, remote) : unrecorded(remote);
    this.traceId = context.traceId;
    const traceparent = formatTraceparent(context);
    this.context = tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  }

  engine(name: string): void {
    this.#span.setAttribute('speech.engine', name);
  }

  model(name: string): void {
    this.#span.setAttribute('speech.model', name);
  }

  /** Ends the span. `status` is the HTTP status. Idempotent. */
  end(status: number, outcome: RequestOutcome): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#span.setAttribute('http.response.status_code', status);
    if (outcome === 'failed') this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}
