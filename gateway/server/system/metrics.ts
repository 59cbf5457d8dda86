/**
 * The metrics at `/metrics`, in Prometheus' text format. Labels are route patterns, never paths, so that their
 * number is bounded. Other rooms add their own with `gauge` and `counter`, read only when scraped.
 * docs/metrics.md lists them all; names follow Prometheus' conventions (base units, `_total` for counters).
 */
import { systemClock } from '../../../contracts/clock.js';
import { History, LATENCY_BOUNDS } from './history.js';
import { type Aggregator, Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

const SECONDS = [...LATENCY_BOUNDS];
const PREFIX = 'gateway_';
/** Several looks of prom-client at the event loop. */
const WATCHED_MS = 50;

/** Gauges of prom-client with the suffix of counters; each has the sum of a gauge that stays. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

type Labels = Readonly<Record<string, string | number>>;
type Reading = number | readonly { readonly labels: Labels; readonly value: number }[];

/** The edge's report of one finished request. Times are in seconds from its arrival. */
export interface RequestReport {
  readonly route: string;
  readonly method: string;
  /** 499 if the client left first. */
  readonly status: number;
  readonly firstByte: number | undefined;
  readonly total: number;
  readonly bytesIn: number;
}

export class Metrics {
  readonly registry = new Registry();
  /** The last hour. */
  readonly history = new History(systemClock);
  readonly #requests: Counter<'route' | 'method' | 'status'>;
  readonly #firstByte: Histogram<'route'>;
  readonly #total: Histogram<'route'>;
  readonly #bytes: Counter<'direction'>;
  readonly #shed: Counter<'reason'>;
  readonly #unreadable: Counter<'status'>;
  #bytesIn = 0;
  #bytesOut = 0;
  /** Of Node's own metrics. */
  #watched: Promise<void> | undefined;

  constructor() {
    const registers = [this.registry];
    this.#requests = new Counter({
      name: `${PREFIX}requests_total`,
      help: 'Requests answered',
      labelNames: ['route', 'method', 'status'],
      registers,
    });
    const histogram = (name: string, help: string): Histogram<'route'> =>
      new Histogram({ name: PREFIX + name, help, labelNames: ['route'], buckets: SECONDS, registers });
    this.#firstByte = histogram('first_byte_seconds', 'Time from a request to the first byte of its reply');
    this.#total = histogram('request_seconds', 'Time from a request to the end of its reply');
    this.#shed = new Counter({
      name: `${PREFIX}shed_requests_total`,
      help: 'Requests refused before they were routed, by reason',
      labelNames: ['reason'],
      registers,
    });
    this.#unreadable = new Counter({
      name: `${PREFIX}unreadable_requests_total`,
      help: 'Requests that could not be parsed, by the status that they got (none: the connection was dropped)',
      labelNames: ['status'],
      registers,
    });
    this.#bytes = new Counter({
      name: `${PREFIX}bytes_total`,
      help: 'Bytes of request and reply bodies and of WebSocket frames',
      labelNames: ['direction'],
      registers,
      collect: () => this.#flushBytes(),
    });
  }

  /**
   * All metrics, for a scrape. Those of Node begin with the first: for them a process notes each garbage collection, and wakes
   * every 10 ms to see how late its event loop is.
   */
  async scraped(): Promise<Registry> {
    await (this.#watched ??= this.#watch());
    return this.registry;
  }

  /** Resolves once the event loop was looked at, so that not even the first scrape has figures of nothing. */
  #watch(): Promise<void> {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    return new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  }

  #described(name: string, help: string, labelNames: readonly string[], aggregator: Aggregator) {
    return { name: PREFIX + name, help, labelNames: [...labelNames], aggregator, registers: [this.registry] };
  }

  /**
   * Adds the gauge `gateway_<name>`, read at each scrape; with `labelNames`, one reading per label set. `merged`: how the
   * values of several processes are combined.
   */
  gauge(
    name: string,
    help: string,
    read: () => Reading,
    labelNames: readonly string[] = [],
    merged: Aggregator = 'sum',
  ): void {
    const gauge: Gauge = new Gauge({
      ...this.#described(name, help, labelNames, merged),
      collect: () => {
        gauge.reset();
        for (const { labels, value } of rowsOf(read())) gauge.set({ ...labels }, value);
      },
    });
  }

  /** Adds the counter `gateway_<name>_total`; `read` must never return less than before. `merged` is as in `gauge`. */
  counter(
    name: string,
    help: string,
    read: () => Reading,
    labelNames: readonly string[] = [],
    merged: Aggregator = 'sum',
  ): void {
    const counter: Counter = new Counter({
      ...this.#described(`${name}_total`, help, labelNames, merged),
      collect: () => {
        counter.reset();
        for (const { labels, value } of rowsOf(read())) counter.inc({ ...labels }, value);
      },
    });
  }

  /** Adds the histogram `gateway_<name>`, in seconds; the result takes a value. `merged` is as in `gauge`. */
  histogram(
    name: string,
    help: string,
    labelNames: readonly string[] = [],
    merged: Aggregator = 'sum',
  ): (seconds: number, labels?: Labels) => void {
    const described = this.#described(name, help, labelNames, merged);
    const histogram = new Histogram({ ...described, buckets: SECONDS });
    return (seconds, labels = {}) => histogram.observe({ ...labels }, seconds);
  }

  finished(report: RequestReport): void {
    this.#requests.inc({ route: report.route, method: report.method, status: report.status });
    if (report.firstByte !== undefined) this.#firstByte.observe({ route: report.route }, report.firstByte);
    this.#total.observe({ route: report.route }, report.total);
    this.#bytesIn += report.bytesIn;
    this.history.finished(report);
  }

  unreadable(status: number | 'none'): void {
    this.#unreadable.inc({ status });
  }

  received(bytes: number): void {
    this.#bytesIn += bytes;
  }

  sent(bytes: number): void {
    this.#bytesOut += bytes;
  }

  shed(reason: 'overloaded' | 'draining'): void {
    this.#shed.inc({ reason });
  }

  #flushBytes(): void {
    this.#bytes.inc({ direction: 'in' }, this.#bytesIn);
    this.#bytes.inc({ direction: 'out' }, this.#bytesOut);
    this.#bytesIn = 0;
    this.#bytesOut = 0;
  }
}

const rowsOf = (reading: Reading): Exclude<Reading, number> =>
  typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading;
