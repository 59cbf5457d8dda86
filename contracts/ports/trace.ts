/** One request's part in a distributed trace, as the work behind it sees it (spec.txt "Trace context"). */
export interface RequestTrace {
  /** W3C trace context of this request, passed on to remote engines. */
  readonly traceparent: string;
  /** Told which engine does the work. */
  engine(name: string): void;
}
