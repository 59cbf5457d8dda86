/**
 * The life of one request above the adapters: route, handler, first chunk, head, stream, end or destroy.
 *
 * Invariants: a reply's head is written only once its first body chunk exists; a failure before that is an error
 * reply in the dialect's shape, a failure after it destroys the connection; every reply has X-Generation-Id; a stream
 * is read only as fast as the client reads and is abandoned when the client leaves.
 * (docs/contract/limits.md: first byte, SSE connection.)
 */
import { ServiceError, toServiceError } from '../../contracts/errors.js';
import { ownedBy, type Owner } from '../../contracts/owner.js';
import type { Arrival, ReplyHead } from './adapters/adapter.js';
import { networkOf } from './client-address.js';
import { preflightHeaders, isPreflight } from './cors.js';
import { mustCharge, UNBOUNDED_MEMORY } from '../../contracts/ports/accounts/memory.js';
import { EdgeRequest } from './edge-request.js';
import { RequestMemory, type RequestOwner } from './memory/request-memory.js';
import { GatheredWrites } from './adapters/gathered-writes.js';
import type { RequestPlace } from './place.js';
import type { Dialect, Reply } from './port.js';
import {
  abandon,
  ClientLeft,
  type Chunk,
  discardReply,
  FAREWELL_MS,
  openingOf,
  isEventStream,
  isStream,
  lengthOf,
  NO_BODY,
  STALL_MS,
} from './reply-body.js';
import { closesConnection, errorHeaders, replyHead } from './reply-head.js';
import { ReplyDeadline } from './reply-deadline.js';
import type { ExchangeHost } from './exchange-host.js';
import { offeredProtocols } from './handshake.js';
import { allowHeader, parametersOf, SOCKET, unknownPath, type Endpoint, type Match } from './router.js';
import { isAccept } from './socket-host.js';
import { CLIENT_LEFT, EXPECTED, refusalOf, REQUEST_LINE, UNMATCHED } from './tracing/request-line.js';
import { endingOf } from './unread-body.js';

/** A larger reply in one piece is charged while its client reads it. */
const LARGE_REPLY = 64 * 1024;

export class Exchange {
  /** Whether the connection stays open after the reply, as its head says or will say. */
  keepsConnection = false;
  readonly #request: EdgeRequest;
  readonly #place: RequestPlace;
  readonly #memory: RequestMemory;
  readonly #since: number;
  #endpoint: Endpoint | undefined;
  #dialect: Dialect;
  #status = CLIENT_LEFT;
  #firstByte: number | undefined;
  /** Rejects the current wait: for the handler, a chunk or the client. */
  #interrupt: ((error: Error) => void) | undefined;
  #wakeWriter: (() => void) | undefined;
  #writes: GatheredWrites | undefined;
  readonly #deadline: ReplyDeadline;
  #evicted = false;
  #ended = false;

  constructor(
    private readonly edge: ExchangeHost,
    private readonly arrival: Arrival,
  ) {
    this.#place = edge.place(this);
    const owner: RequestOwner = {
      network: () => networkOf(this.clientAddress),
      evict: (error) => this.#end(error),
    };
    this.#memory = new RequestMemory(edge.memory, owner);
    this.#request = new EdgeRequest(
      arrival,
      edge.ids.next('generation'),
      edge.origins,
      this.#place,
      this.#memory,
      new RequestMemory(edge.spool?.ledger ?? UNBOUNDED_MEMORY, owner),
      edge.spool,
    );
    arrival.body?.charge(this.#memory.share('body'), edge.bodyTurns.of(this.#memory));
    this.#since = edge.clock.monotonic();
    this.#deadline = new ReplyDeadline(edge.clock, this.#since, arrival.body, (error) => this.#stop(error));
    this.#dialect = edge.system;
  }

  /** Never rejects. Work of the handler that goes on after the reply does not end with the connection. */
  run(): Promise<void> {
    const { clientAddress } = this;
    const signal = () => (this.#ended ? undefined : this.#request.signal);
    const owner: Owner = {
      tag: clientAddress,
      get signal() {
        return signal();
      },
    };
    return ownedBy(owner, () => this.#run());
  }

  async #run(): Promise<void> {
    const { channel } = this.arrival;
    channel.onClosed = () => this.#stop(new ClientLeft('The client has gone'));
    channel.onWritable = () => {
      this.#writes?.writable();
      this.#wakeWriter?.();
    };
    this.#deadline.awaitFirstByte();
    try {
      const reply = await this.#answer();
      if (reply) await this.#send(reply);
    } catch (error) {
      await this.#fail(error);
    } finally {
      this.#ended = true;
      this.#deadline.cancel();
      this.#place.leave();
      this.arrival.body?.forget();
      this.#memory.close();
      this.#request.ended();
      this.#logRefusal();
      this.#report();
    }
  }

  get clientAddress(): string {
    return this.#request.clientAddress;
  }

  /** Ends the request, since too many requests wait for their clients. */
  evict(): void {
    this.#end(new ServiceError('overloaded', { retryAfter: this.edge.retryAfterSeconds }));
  }

  /** Breaks the connection in any state, since the server closes. */
  cut(): void {
    this.arrival.channel.destroy();
    this.#stop(new ServiceError('draining'));
  }

  async #answer(): Promise<Reply | undefined> {
    const { head } = this.arrival;
    const match = this.#find();
    this.#endpoint = match.endpoint;
    this.#dialect = match.endpoint ? match.endpoint.dialect : match.dialect;
    if (head.refusal) throw head.refusal;
    if (isPreflight(head.method, head.headers)) return this.#preflight();
    this.edge.admit(this.#dialect, match.endpoint, this.#request);
    if (!match.endpoint) return this.#unmatched(match);
    this.#request.params = parametersOf(match.endpoint, match.values);
    this.#request.permission = match.endpoint.permission;
    const { handler } = match.endpoint;
    return handler ? this.#replyOf(handler(this.#request)) : this.#handshake(match.endpoint);
  }

  #preflight(): Reply {
    const { path, headers } = this.arrival.head;
    const { endpoint } = this.edge.router.find(headers.get('access-control-request-method') ?? '', path);
    this.#endpoint = endpoint;
    return { status: 204, ...(endpoint?.sameOriginOnly ? {} : { headers: preflightHeaders(headers) }) };
  }

  #find(): Match {
    const { head } = this.arrival;
    if (head.isHandshake) {
      const match = this.edge.router.find(SOCKET, head.path);
      if (match.endpoint || match.meant !== undefined) return match;
    }
    return this.edge.router.find(head.method === 'HEAD' ? 'GET' : head.method, head.path);
  }

  #unmatched(match: Match & { endpoint?: undefined }): Reply {
    if (match.allowed.length === 0) throw unknownPath(match.meant);
    const allow = allowHeader(match.allowed);
    if (this.arrival.head.method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
    this.#request.facts.code = 'method_not_allowed';
    const refusal = this.#errorReply(new ServiceError('method_not_allowed'));
    return { ...refusal, headers: { ...refusal.headers, Allow: allow } };
  }

  async #handshake({ socket }: Endpoint): Promise<Reply | undefined> {
    const offered = offeredProtocols(this.arrival);
    const decision = socket && (await this.#race(socket.upgrade(this.#request)));
    if (!decision) throw new Error('A route is neither a handler nor a socket');
    if (!isAccept(decision)) return decision.refuse;
    if (!this.edge.sockets.door.admits(decision, this.clientAddress)) this.edge.refuse('overloaded');
    const { holder } = this.#memory;
    await this.#race(this.edge.sockets.door.pass(decision, holder));
    this.#status = 101;
    this.#deadline.cancel();
    this.edge.sockets.open(this.arrival, decision, offered, this.#request, holder);
    return undefined;
  }

  async #send(reply: Reply): Promise<void> {
    const { channel } = this.arrival;
    const settled = await this.#bodyIsSettled(reply);
    const close = !settled || this.edge.draining || closesConnection(this.arrival.head);
    this.keepsConnection = !close;
    const { requestIdHeader } = this.#dialect;
    const crossOrigin = !this.#endpoint?.sameOriginOnly;
    const head = replyHead(reply, this.#request, { close, crossOrigin, requestIdHeader });
    if (channel.closed) return discardReply(reply);
    if (this.#request.method === 'HEAD' || NO_BODY.has(reply.status)) {
      this.#mark(reply.status);
      channel.bare(head, NO_BODY.has(reply.status) ? undefined : lengthOf(reply.body));
      return discardReply(reply);
    }
    if (isStream(reply.body)) return this.#stream(head, reply.body, reply.breakOff);
    if (!settled && reply.body) return this.#linger(head, reply.body);
    await this.#sendWhole(head, reply.body ?? '');
  }

  /** Sends the reply, and ends it once the client has sent everything, or too much, or took too long. */
  async #linger(head: ReplyHead, body: Chunk): Promise<void> {
    const { channel, body: upload } = this.arrival;
    const { behind } = endingOf(head.status, this.#evicted);
    this.#mark(head.status);
    this.edge.metrics.sent(body.length);
    this.#place.lingers();
    if (!channel.begin(head, body, lengthOf(body))) await this.#writable();
    if (upload) await this.#race(upload.over(behind));
    channel.finish();
  }

  async #sendWhole(head: ReplyHead, body: Chunk): Promise<void> {
    if (body.length > LARGE_REPLY && head.status < 400) mustCharge(this.#memory.share('answer'), body.length);
    this.#mark(head.status);
    this.edge.metrics.sent(body.length);
    if (!this.arrival.channel.whole(head, body)) await this.#writable();
  }

  async #stream(head: ReplyHead, body: AsyncIterable<Chunk>, breakOff: Reply['breakOff']): Promise<void> {
    const iterator = body[Symbol.asyncIterator]();
    const writes = new GatheredWrites(this.arrival.channel);
    this.#writes = writes;
    try {
      const isEvents = isEventStream(head);
      let { chunk, next } = await this.#race(openingOf(iterator, isEvents));
      if (!next) return await this.#sendWhole(head, chunk);
      this.#mark(head.status);
      if (isEvents) this.#deadline.capConnection();
      for (let flowing = writes.begin(head, chunk); ; flowing = writes.write(chunk)) {
        this.edge.metrics.sent(chunk.length);
        if (!flowing) await this.#writable();
        const step: IteratorResult<Chunk> = await this.#race(next ?? iterator.next());
        if (step.done) break;
        [chunk, next] = [step.value, undefined];
      }
      await this.#finish(writes);
    } catch (error) {
      abandon(iterator);
      if (breakOff && error instanceof ServiceError && error === this.#request.signal.reason)
        return this.#breakOff(breakOff(error), writes, error);
      writes.flush();
      throw error;
    }
  }

  /** Ends a stream of events before its time with an event that says why; a client that does not read is cut. */
  async #breakOff(last: string, writes: GatheredWrites, { code }: ServiceError): Promise<void> {
    this.#request.facts.code = code;
    this.#memory.release();
    writes.write(last);
    await this.#finish(writes, FAREWELL_MS);
  }

  async #finish(writes: GatheredWrites, ms = STALL_MS): Promise<void> {
    while (!writes.flowing) await this.#writable(ms);
    if (!writes.finish()) await this.#writable(ms);
  }

  async #fail(error: unknown): Promise<void> {
    const { channel } = this.arrival;
    this.#memory.release();
    this.#request.ended();
    if (error instanceof ClientLeft || channel.closed) return channel.destroy();
    const told = toServiceError(error);
    this.#request.facts.code = told.code;
    this.edge.failed(told);
    this.#log(told);
    if (this.#firstByte !== undefined || this.#status === 101) return channel.destroy();
    await this.#send(this.#errorReply(told)).catch((failure: unknown) => {
      if (!(failure instanceof ClientLeft)) this.#log(toServiceError(failure));
      channel.destroy();
    });
  }

  #errorReply(error: ServiceError): Reply {
    const reply = this.#dialect.errorReply(error, this.#request);
    return { ...reply, headers: { ...errorHeaders(error, this.edge.retryAfterSeconds), ...reply.headers } };
  }

  /** Writes the line of a refusal that no handler has seen, such as one to a wrong address; handlers' requests have theirs. */
  #logRefusal(): void {
    const { observed = false, code } = this.#request.facts;
    if (observed || code === undefined) return;
    const ms = this.edge.clock.monotonic() - this.#since;
    this.edge.log.info(refusalOf(this.#request, this.#endpoint?.pattern, this.#status, ms), REQUEST_LINE);
  }

  #log(error: ServiceError): void {
    if (error.status < 500 || EXPECTED.has(error.code)) return;
    const { generationId } = this.#request;
    const details = { generationId, route: this.#endpoint?.pattern, code: error.code, err: error.cause };
    if (error.code === 'internal') this.edge.log.error(details, 'a request failed');
    else this.edge.log.warn(details, 'a request could not be served');
  }

  /** Waits for `work` unless the client leaves or the deadline passes first. */
  #race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      work.then(resolve, reject);
      if (this.arrival.channel.closed) reject(new ClientLeft('The client has gone'));
    });
  }

  /** Waits for a handler's reply; one that comes when nobody waits any more is discarded. */
  #replyOf(reply: Promise<Reply>): Promise<Reply> {
    return this.#race(reply).catch((error: unknown) => {
      reply.then(discardReply, () => undefined);
      throw error;
    });
  }

  /** Waits until the client has read enough. Errors: `ClientLeft` if it has gone or reads nothing. */
  async #writable(ms = STALL_MS): Promise<void> {
    const stalled = this.edge.clock.after(ms, () => this.#interrupt?.(new ClientLeft('The client stalled')));
    try {
      await this.#clientsTurn(() => this.#race(new Promise<void>((resolve) => (this.#wakeWriter = resolve))));
    } finally {
      stalled();
    }
  }

  async #clientsTurn<T>(wait: () => Promise<T>, answered = false): Promise<T> {
    this.#place.waits(answered);
    try {
      return await wait();
    } finally {
      this.#place.goesOn();
    }
  }

  /** Ends the request for the sake of others: its client is not waited for. */
  #end(error: ServiceError): void {
    this.#evicted = true;
    this.#stop(error);
  }

  #stop(error: Error): void {
    this.#request.abort(error);
    this.arrival.body?.fail(error);
    this.#interrupt?.(error);
  }

  /** Records that the first byte is about to be sent. */
  #mark(status: number): void {
    this.#deadline.cancel();
    this.#status = status;
    this.#firstByte = this.edge.clock.monotonic() - this.#since;
  }

  async #bodyIsSettled(reply: Reply): Promise<boolean> {
    const { body } = this.arrival;
    if (!body || body.ended) return true;
    const { before } = endingOf(reply.status, this.#evicted);
    return this.#clientsTurn(() => body.discard(before), true);
  }

  #report(): void {
    const { method } = this.#request;
    this.edge.finished(this, {
      route: this.#endpoint?.pattern ?? UNMATCHED,
      method: this.#endpoint || method === 'OPTIONS' ? method : 'other',
      status: this.#status,
      firstByte: this.#firstByte === undefined ? undefined : this.#firstByte / 1000,
      total: (this.edge.clock.monotonic() - this.#since) / 1000,
      bytesIn: this.arrival.body?.receivedBytes ?? 0,
    });
  }
}
