/**
 * Traces handlers: one span and one log line per request, written when the reply was sent completely, has failed, or
 * has lost its reader. The line contains only ids, method, route, status, an error's code, outcome, model, engine and duration.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError, toServiceError } from '../../../contracts/errors.js';
import type { Log } from '../../../contracts/log.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { RequestTrace, TraceContext } from '../../../contracts/ports/trace.js';
import type { Dialect, HttpHandler, HttpRequest, Reply, RequestFacts, SocketRoute } from '../port.js';
import { outcomeOf, REQUEST_LINE } from './request-line.js';
import { Trace } from './trace.js';

type Chunk = Uint8Array | string;

/** Logged if no status was sent, because the client left or was cut off. */
const LEFT = 499;

/** Why nobody waits for the reply: the client left, or the server closes. Undefined for a timeout, which aborts as well. */
function desertion({ signal }: Pick<HttpRequest, 'signal'>): 'left' | 'drained' | undefined {
  if (!signal.aborted) return undefined;
  if (!(signal.reason instanceof ServiceError)) return 'left';
  return signal.reason.code === 'draining' ? 'drained' : undefined;
}

export interface Observers {
  readonly log: Log;
  readonly clock: Clock;
}

/** One request as operators see it. Keeps only ids of the request, since sockets stay open for long. */
export class Observation implements RequestTrace {
  readonly #trace: Trace;
  readonly #generationId: string;
  readonly #method: string;
  readonly #facts: RequestFacts;
  readonly #since: number;
  #model: string | undefined;
  #engine: string | undefined;
  #ended = false;

  constructor(
    request: Pick<HttpRequest, 'headers' | 'generationId' | 'method' | 'facts'>,
    private readonly route: string,
    private readonly observers: Observers,
  ) {
    this.#trace = new Trace(request, route);
    this.#generationId = request.generationId;
    this.#method = request.method;
    this.#facts = request.facts;
    this.#facts.observed = true;
    this.#since = observers.clock.monotonic();
  }

  get traceId(): string {
    return this.#trace.traceId;
  }

  get context(): TraceContext {
    return this.#trace.context;
  }

  engine(name: string): void {
    this.#engine = name;
    this.#trace.engine(name);
  }

  model(name: string): void {
    this.#model = name;
    this.#trace.model(name);
  }

  /** A caller who is known by a message only. */
  caller({ workspaceId, keyId }: Pick<Caller, 'workspaceId' | 'keyId'>): void {
    Object.assign(this.#facts, { workspaceId, keyId });
  }

  /** Idempotent. */
  end(status: number, outcome = outcomeOf(status)): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#trace.end(status, outcome);
    const { log, clock } = this.observers;
    const ms = Math.round(clock.monotonic() - this.#since);
    const { traceId, route } = this;
    const [generationId, method] = [this.#generationId, this.#method];
    const [model, engine] = [this.#model, this.#engine];
    const { workspaceId, keyId, code } = this.#facts;
    log.info(
      {
        generationId,
        traceId,
        method,
        route,
        status,
        code,
        outcome,
        workspaceId,
        keyId,
        model,
        engine,
        ms,
      },
      REQUEST_LINE,
    );
  }

  failed(error: unknown): void {
    this.refused(error);
    this.end(toServiceError(error).status);
  }

  /** Notes why the request was refused, or has failed. */
  refused(error: unknown, code: string | null = toServiceError(error).code): void {
    if (code !== null) this.#facts.code = code;
  }
}

/** A body whose end is observed, even if its reader leaves before the first chunk. */
class ObservedBody implements AsyncIterableIterator<Chunk> {
  readonly #chunks: AsyncIterator<Chunk>;

  constructor(
    body: AsyncIterable<Chunk>,
    private readonly status: number,
    private readonly request: Pick<HttpRequest, 'signal'>,
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
      const deserted = desertion(this.request);
      if (deserted) this.observation.end(this.status, deserted);
      else {
        this.observation.refused(error);
        this.observation.end(toServiceError(error).status, 'failed');
      }
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Chunk>> {
    const { aborted, reason } = this.request.signal;
    const deserted = desertion(this.request);
    if (aborted && !deserted) this.observation.failed(reason);
    else this.observation.end(this.status, deserted ?? 'left');
    await this.#chunks.return?.();
    return { done: true, value: undefined };
  }
}

function observe(reply: Reply, request: HttpRequest, observation: Observation): Reply {
  const { body, status } = reply;
  if (typeof body === 'object' && Symbol.asyncIterator in body) {
    return { ...reply, body: new ObservedBody(body, status, request, observation) };
  }
  observation.end(status);
  return reply;
}

/** Wraps a route's handler in an observation. `route` is the pattern. */
export const traced =
  (
    route: string,
    observers: Observers,
    handler: (request: HttpRequest, observation: Observation) => Promise<Reply>,
  ): HttpHandler =>
  async (request) => {
    const observation = new Observation(request, route, observers);
    try {
      return observe(await handler(request, observation), request, observation);
    } catch (error) {
      const deserted = desertion(request);
      if (deserted) observation.end(LEFT, deserted);
      else observation.failed(error);
      throw error;
    }
  };

/** The dialect with all its routes observed. */
export const tracedDialect = (dialect: Dialect, observers: Observers): Dialect => ({
  ...dialect,
  routes: dialect.routes.map((route) => ({
    ...route,
    handler: traced(route.path, observers, (request) => route.handler(request)),
  })),
});

/** A socket's route, observed from the handshake on; the opened socket ends the observation. */
export const tracedSocket = (
  route: Omit<SocketRoute, 'upgrade'>,
  observers: Observers,
  upgrade: (request: HttpRequest, observation: Observation) => ReturnType<SocketRoute['upgrade']>,
): SocketRoute => ({
  ...route,
  async upgrade(request) {
    const observation = new Observation(request, route.path, observers);
    try {
      const decision = await upgrade(request, observation);
      return { ...decision, refused: (error: ServiceError) => observation.failed(error) };
    } catch (error) {
      observation.failed(error);
      throw error;
    }
  },
});
