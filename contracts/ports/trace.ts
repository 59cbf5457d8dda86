/** One request's part in a distributed trace, as the work behind it sees it (docs/contract/native.md 6). */
export interface RequestTrace {
  readonly context: TraceContext;
  /** Reports which engine does the work. */
  engine(name: string): void;
}

/** The W3C headers of a request, passed on to engines that are services of their own. */
export interface TraceContext {
  readonly traceparent: string;
  /** Valid, and bounded by LIMITS.trace; absent if the client sent none. */
  readonly tracestate?: string;
}
