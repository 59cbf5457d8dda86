/** The request as handlers see it (port.ts). Parts that few handlers use are made on first use. */
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Permission } from '../../contracts/permissions.js';
import type { Arrival } from './adapters/adapter.js';
import { boundFields } from './bodies/structure.js';
import type { Origins } from './client-address.js';
import type { MemoryKind, MemoryShare } from '../../contracts/ports/accounts/memory.js';
import type { RequestMemory } from './memory/request-memory.js';
import type { Spool, SpoolFile } from './bodies/spool.js';
import type { RequestPlace } from './place.js';
import type { HttpRequest, RequestFacts } from './port.js';

const COMPRESSED = { message: 'Compressed bodies are not supported', param: 'content-encoding' };

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {
  // no body, no chunks
}

export class EdgeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly facts: RequestFacts = {};
  params: Readonly<Record<string, string>> = {};
  permission: Permission = 'manage';
  #abort: AbortController | undefined;
  #abortReason: Error | undefined;
  #query: URLSearchParams | undefined;
  #clientAddress: string | undefined;
  /** Undefined once the request has ended. */
  #closers: (() => void)[] | undefined = [];

  constructor(
    private readonly arrival: Arrival,
    readonly generationId: string,
    private readonly origins: Origins,
    private readonly place: Pick<RequestPlace, 'authenticated' | 'waits' | 'goesOn'>,
    private readonly memory: RequestMemory,
    private readonly disk: RequestMemory,
    private readonly spool: Spool | undefined,
  ) {
    this.method = arrival.head.method;
    this.path = arrival.head.path;
    this.headers = arrival.head.headers;
  }

  /** Errors: `invalid_request` for too many fields: nobody knows yet whose request it is. */
  get query(): URLSearchParams {
    if (this.#query) return this.#query;
    const { query } = this.arrival.head;
    boundFields(query, LIMITS.unauthenticated.parts);
    return (this.#query = new URLSearchParams(query));
  }

  get search(): string {
    const { query } = this.arrival.head;
    return query === '' ? '' : `?${query}`;
  }

  get clientAddress(): string {
    return (this.#clientAddress ??= this.origins.clientAddress(this.arrival.peerAddress, this.headers));
  }

  get fromPrivateNetwork(): boolean {
    return this.origins.isPrivate(this.arrival.peerAddress, this.headers);
  }

  get baseUrl(): string {
    return this.origins.baseUrl(this.arrival.peerAddress, this.headers);
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#abortReason) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  get isAborted(): boolean {
    return this.#abortReason !== undefined;
  }

  /** Errors: `unsupported_media_type` if the body is compressed. */
  body(limitBytes: number): AsyncIterable<Uint8Array> {
    const encoding = this.headers.get('content-encoding') ?? 'identity';
    if (encoding.toLowerCase() !== 'identity') throw new ServiceError('unsupported_media_type', COMPRESSED);
    return this.arrival.body ? this.#arriving(this.arrival.body.chunks(limitBytes)) : nothing();
  }

  authenticated({ workspaceId, keyId }: Parameters<HttpRequest['authenticated']>[0] = {}): void {
    this.place.authenticated();
    if (keyId !== undefined) this.facts.keyId = keyId;
    if (workspaceId === undefined) return;
    this.facts.workspaceId = workspaceId;
    this.memory.belongsTo(workspaceId);
    this.disk.belongsTo(workspaceId);
  }

  share(kind: MemoryKind): MemoryShare {
    return this.memory.share(kind);
  }

  store(): SpoolFile | undefined {
    const file = this.spool?.create(this.disk.open('body'));
    if (file) this.atEnd(() => file.remove());
    return file;
  }

  atEnd(close: () => void): void {
    if (this.#closers) this.#closers.push(close);
    else close();
  }

  /** Calls what waits for the end of the request. */
  ended(): void {
    const closers = this.#closers ?? [];
    this.#closers = undefined;
    for (const close of closers) close();
  }

  async *#arriving(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    this.place.waits();
    try {
      yield* chunks;
    } finally {
      this.place.goesOn();
    }
  }

  /** Aborts `signal`. The first reason counts. */
  abort(reason: Error): void {
    if (this.#abortReason) return;
    this.#abortReason = reason;
    this.#abort?.abort(reason);
  }
}
