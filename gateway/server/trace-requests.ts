/**
 * Handlers with a trace around them: a span and one line in the log a request, written when its reply has been
 * sent to the end, has failed, or nobody reads it any more. The line holds ids, route, status and model only.
 */
import type { Clock } from '../../contracts/clock.js';
import { toServiceError } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { HttpHandler, HttpRequest, Reply } from './port.js';
import { Trace } from './trace.js';

type Outcome = 'done' | 'failed' | 'left';
type Chunk = Uint8Array | string;

const FAILED = 500;

const outcomeOf = (status: number): Outcome => (status >= FAILED ? 'failed' : 'done');

export interface Observers {
  readonly log: Log;
  readonly clock: Clock;
}

/** One request as operators see it. */
export class Observation {
  readonly #trace: Trace;
  readonly #since: number;
  #model: string | undefined;
  #ended = false;

  constructor(
    private readonly request: Pick<HttpRequest, 'headers' | 'generationId' | 'method'>,
    private readonly route: string,
    private readonly observers: Observers,
  ) {
    this.#trace = new Trace(request, route);
    this.#since = observers.clock.monotonic();
  }

  get traceId(): string {
    return this.#trace.traceId;
  }

  model(name: string): void {
    this.#model = name;
    this.#trace.model(name);
  }

  /** Idempotent. */
  end(status: number, outcome = outcomeOf(status)): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#trace.end(status, outcome);
    const { log, clock } = this.observers;
    const ms = Math.round(clock.monotonic() - this.#since);
    const { generationId } = this.request;
    log.info(
      { generationId, traceId: this.traceId, route: this.route, status, outcome, model: this.#model, ms },
      'request',
    );
  }

  failed(error: unknown): void {
    this.end(toServiceError(error).status);
  }
}

/** A body whose end is observed, also when it is left before its first chunk. */
class ObservedBody implements AsyncIterableIterator<Chunk> {
  readonly #chunks: AsyncIterator<Chunk>;

  constructor(
    body: AsyncIterable<Chunk>,
    private readonly status: number,
    private readonly observation: Observation,
  ) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Chunk>> {
    try {
      const step = await this.#chunks.next();
      if (step.done) this.observation.end(this.status, 'done');
      return step;
    } catch (error) {
      this.observation.end(toServiceError(error).status, 'failed');
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.observation.end(this.status, 'left');
    await this.#chunks.return?.();
    return { done: true, value: undefined };
  }
}

function observe(reply: Reply, observation: Observation): Reply {
  const { body, status } = reply;
  if (typeof body === 'object' && Symbol.asyncIterator in body) {
    return { ...reply, body: new ObservedBody(body, status, observation) };
  }
  observation.end(status);
  return reply;
}

/** The handler of a route, observed. `route` is the pattern. */
export const traced =
  (
    route: string,
    observers: Observers,
    handler: (request: HttpRequest, observation: Observation) => Promise<Reply>,
  ): HttpHandler =>
  async (request) => {
    const observation = new Observation(request, route, observers);
    try {
      return observe(await handler(request, observation), observation);
    } catch (error) {
      observation.failed(error);
      throw error;
    }
  };
