/**
 * The port through which the rest of the gateway sees HTTP and WebSocket. Two adapters implement it, `uws` and `node`;
 * everything that an adapter need not do is above this port and is tested on both.
 *
 * Invariants: nothing is decoded before routing; a reply's status is written only once its first body
 * chunk exists, so that a failure before it is a proper error; after the first byte a failure destroys
 * the connection and never looks like a short success; every reply carries X-Generation-Id.
 */
import type { CloseReason } from '../../contracts/close-codes.js';
import type { ServiceError } from '../../contracts/errors.js';
import type { Audited } from '../../contracts/ports/accounts/audit.js';
import type { Caller } from '../../contracts/ports/accounts/identity.js';
import type { MemoryKind, MemoryShare } from '../../contracts/ports/accounts/memory.js';
import type { SpoolFile } from './bodies/spool.js';
import type { Permission } from '../../contracts/permissions.js';

/** What the line in the log says of a request besides its route: noted by whoever learns it. */
export interface RequestFacts {
  workspaceId?: string;
  /** Id of the key, never the key. */
  keyId?: string;
  /** Of the error with which it was refused, or failed. */
  code?: string;
  /** Names of what the body sends, for the audit trail; never logged. */
  fields?: readonly string[];
  /** Whether an observation writes the line (tracing/trace-requests.ts). */
  observed?: boolean;
}

export interface HttpRequest {
  readonly facts: RequestFacts;
  /** Sent back as X-Generation-Id. */
  readonly generationId: string;
  readonly method: string;
  /** As received: percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The query as received, with its `?`; empty if there is none. */
  readonly search: string;
  /** Path parameters, percent-decoded after routing. */
  readonly params: Readonly<Record<string, string>>;
  /** Lower-case names; repeated headers joined by `, `. */
  readonly headers: ReadonlyMap<string, string>;
  /** The permission that a key needs here. */
  readonly permission: Permission;
  /** The client's address, past trusted proxies. */
  readonly clientAddress: string;
  /** Whether the client is on this machine or a private network, past trusted proxies; false if that is uncertain. */
  readonly fromPrivateNetwork: boolean;
  /** Base URL under which the client reached the gateway: PUBLIC_URL, else from Host. No slash at the end. */
  readonly baseUrl: string;
  /** Aborted when the client has left or the request has timed out. */
  readonly signal: AbortSignal;
  /** Whether `signal` is aborted; cheaper than asking the signal. */
  readonly isAborted: boolean;
  /**
   * Marks the caller as known; from then on the request counts towards the limit of authenticated requests, and its memory is the
   * workspace's, if there is one. The log names both. Errors: `memory_exhausted`.
   */
  authenticated(caller?: Partial<Pick<Caller, 'workspaceId' | 'keyId'>>): void;
  /** The request's memory of one kind: whatever is kept of a body or for a reply is charged there. Given back at its end. */
  share(kind: MemoryKind): MemoryShare;
  /** A file for a large part of the body, removed at the request's end; undefined if the server has no spool. */
  store(): SpoolFile | undefined;
  /** Calls `close` once the request has ended, in whatever way. */
  atEnd(close: () => void): void;
  /**
   * The body as it arrives; read at most once. Each chunk is lent until the next one is asked for: its memory is used again then. Throws
   * `payload_too_large` as soon as the limit is passed, `request_timeout` when it is too slow. Pulling is the back-pressure.
   */
  body(limitBytes: number): AsyncIterable<Uint8Array>;
}

/** The part of a request that authentication reads, and reports its result to. */
export type RequestCredentials = Pick<HttpRequest, 'headers' | 'permission' | 'authenticated'>;

export type ReplyBody = string | Uint8Array | AsyncIterable<Uint8Array | string>;

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is pulled as the client reads, and abandoned (its `return()` called) when the client leaves. */
  readonly body?: ReplyBody;
  /**
   * Of a stream of events: the last of them, if the server has to break it off, since its time is over or there is no
   * memory left. Without it such a stream ends in the middle.
   */
  readonly breakOff?: (error: ServiceError) => string;
}

/** Once the handler has answered, the part of the request's body that it has not read is discarded. */
export type HttpHandler = (request: HttpRequest) => Promise<Reply>;

/** A route as /openapi.json describes it; schemas are TypeBox (JSON Schema). */
export interface RouteDescription {
  readonly summary: string;
  /** What generated clients call it (openapi/openapi-names.ts); by default made of the summary. */
  readonly operationId?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly auth?: boolean;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'header' | 'query' | 'path';
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: object;
  }[];
  /** Whether the route takes native options as headers. */
  readonly optionHeaders?: true;
  /** Content type → schema. */
  readonly requestBody?: Readonly<Record<string, object>>;
  /** Whether the body may be left out. */
  readonly bodyIsOptional?: boolean;
  /** Status → response; its `content`: content type → schema, absent if there is no body. */
  readonly responses: Readonly<
    Record<number, { readonly description: string; readonly content?: Readonly<Record<string, object>> }>
  >;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** `/v1/tts`, `/v1/agent/agents/{agent_id}`. `{name?}` also matches an empty segment or a missing last one. */
  readonly path: string;
  /** What a key must hold (contracts/permissions.ts). Where it is no matter of course, a comment in the row says why. */
  readonly permission: Permission;
  readonly handler: HttpHandler;
  readonly description?: RouteDescription;
  /** What a request that succeeds leaves in the audit trail (audit.ts); absent: nothing. */
  readonly audit?: Audited;
  /** True: pages of other origins may not read it. */
  readonly sameOriginOnly?: boolean;
  /**
   * True: still served during a drain, and while the event loop is late, for running calls. The handler refuses requests that would
   * begin a call during a drain.
   */
  readonly whileDraining?: boolean;
  /** True: requests begin calls, and are shed under load like other new work. */
  readonly beginsCalls?: boolean;
}

/** One side of an open WebSocket. Sends go through one egress queue, in order. */
export interface Socket {
  /** Queues a frame: a string as text, bytes as binary. Never blocks; dropped once the socket is closed. */
  send(data: string | Uint8Array): void;
  /** Bytes that the client has not read yet. */
  readonly queuedBytes: number;
  /** Resolves when the egress queue is below its low-water mark, or the socket has closed. */
  drained(): Promise<void>;
  /** Idempotent. Queued frames are sent first; a client that does not read is cut after a grace. */
  close(reason: CloseReason | { readonly code: number; readonly reason: string }): void;
  /** Reports an error that is not the client's: it is logged, and the socket closes as `internal`. */
  failed(error: unknown): void;
  /** Marks the client of a socket that was accepted as `unauthenticated` as known. */
  authenticated(): void;
  /** Shares that are charged for the first time from now on are that holder's; before, the client's address's. */
  chargeTo(holder: string): void;
  /**
   * A share of the memory budget for what waits here; closed as soon as the socket begins to close. If it is the one that
   * must go, the socket ends (`SocketEvents.mustEnd`), or `evict` is called instead, if given.
   */
  memory(kind: MemoryKind, evict?: () => void): MemoryShare;
}

export interface SocketEvents {
  /** The bytes belong to the receiver. */
  message(data: string | Uint8Array): void;
  /** A text frame of more than AT_ONCE_BYTES, in UTF-8, since decoding it would hold the event loop. Without this, `message` gets its text. */
  longText?(bytes: Buffer): void;
  /** A frame was larger than allowed: the last moment to say so, before the socket closes with 1009. */
  tooBig?(): void;
  /**
   * This socket has to go, since the memory budget is used up, or its time is over: it tells its client so in the shape of
   * its protocol, and closes. It is closed in any case (`ENDINGS`, contracts/close-codes.ts).
   */
  mustEnd?(error: ServiceError): void;
  /** The socket begins to close, from either side; no more frames pass. Called once, before `closed`. */
  gone?(): void;
  /** Called exactly once. */
  closed(code: number): void;
}

export interface SocketAccept {
  /** Further headers of the 101. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as Sec-WebSocket-Protocol if the client offered it. */
  readonly protocol?: string;
  readonly maxFrameBytes: number;
  /**
   * The client has not authenticated yet, or is about to be refused: until `Socket.authenticated`, the limits are
   * LIMITS.unauthenticated. A stack that cannot raise the limit of frames later keeps it for this socket.
   */
  readonly unauthenticated?: boolean;
  /**
   * The number or call that the handshake of an unauthenticated socket was proven with: it then waits among those of that
   * holder, and strangers take no place from it.
   */
  readonly provenAs?: string | undefined;
  /** Absent: LIMITS.socket.connectionMs. `null`: it lasts as long as its call, and a drain waits for it as for calls. */
  readonly connectionMs?: number | null;
  /** It is not opened: the gateway has refused its handshake. */
  readonly refused?: (error: ServiceError) => void;
  open(socket: Socket): SocketEvents;
}

export type WhileDraining = boolean | ((request: Pick<HttpRequest, 'query'>) => boolean);

export interface SocketRoute {
  readonly path: string;
  /** As in `Route`. */
  readonly permission: Permission;
  /** As in `Route`; a function tells whether a handshake is of a running call. */
  readonly whileDraining?: WhileDraining;
  /** Decides on the handshake. A Reply refuses it with that status; a throw is the dialect's error reply. */
  upgrade(request: HttpRequest): Promise<SocketAccept | { readonly refuse: Reply }>;
}

/** One API: its routes and sockets, and its error format. */
export interface Dialect {
  readonly name: string;
  /** Paths below these that match no route get this dialect's 404. The longest prefix wins. */
  readonly prefixes: readonly string[];
  readonly routes: readonly Route[];
  readonly sockets?: readonly SocketRoute[];
  /** Requests that it makes itself, by name, for /openapi.json. */
  readonly webhooks?: Readonly<Record<string, RouteDescription>>;
  /** A header that repeats X-Generation-Id on every reply, where clients of the API look for it. */
  readonly requestIdHeader?: string;
  /** A header for the API key, beside `Authorization`. */
  readonly keyHeader?: string;
  errorReply(error: ServiceError, request: Pick<HttpRequest, 'generationId' | 'path'>): Reply;
}
