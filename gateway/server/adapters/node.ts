/** The adapter over node:http(s) and `ws`, used if the native binding of the `uws` adapter does not load. */
import { readFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, ListenOptions, Socket as TcpSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import {
  type Adapter,
  type AdapterOptions,
  type SocketChannel,
  connectionHeaders,
  type WireHandshake,
  type ReplyHead,
} from './adapter.js';
import { BodyPipe } from '../bodies/body-pipe.js';
import { RequestHead } from './guard.js';
import { Upgrades } from './node-sockets.js';
import { type ClientError, faultOf, sayAndEnd } from './unreadable.js';

const KEEP_ALIVE_SECONDS = 60;
/** A little longer than clients are told, so that none sends just as we close. */
const IDLE_MS = (KEEP_ALIVE_SECONDS + 5) * 1000;

const SERVER_OPTIONS = {
  maxHeaderSize: LIMITS.http.headerBytes,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2000,
  // The server above limits the pace of uploads and the time to the first byte.
  requestTimeout: 0,
  keepAliveTimeout: IDLE_MS,
  // The guard checks that and ends the connection, which node:http does not.
  requireHostHeader: false,
};

/** Most connections that wait to be accepted; the system's limit may be lower. Beyond it clients retry after seconds. */
const BACKLOG = 4096;

/** Replies up to this size count as sent once they are passed to node. */
const ONE_PIECE_BYTES = 64 * 1024;

// oxlint-disable-next-line no-control-regex -- anything but ASCII
const NOT_ASCII = /[^\x00-\x7f]/;

class NodeChannel implements SocketChannel {
  closed = false;
  onClosed: () => void = () => undefined;
  onWritable: () => void = () => undefined;

  constructor(private readonly response: ServerResponse) {
    response.on('close', () => this.#lost());
    response.on('drain', () => this.onWritable());
    response.on('error', () => this.#lost());
  }

  whole(head: ReplyHead, body: string | Uint8Array): boolean {
    if (this.closed) return true;
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
    this.#writeHead(head, length);
    return this.#end(body, length);
  }

  bare(head: ReplyHead, length?: number): void {
    if (this.closed) return;
    this.#writeHead(head, length);
    this.closed = true;
    this.response.end();
  }

  begin(head: ReplyHead, chunk: string | Uint8Array, length?: number): boolean {
    if (this.closed) return true;
    this.#writeHead(head, length);
    return this.response.write(chunk);
  }

  write(chunk: string | Uint8Array): boolean {
    return this.closed || this.response.write(chunk);
  }

  finish(chunk: string | Uint8Array = ''): boolean {
    return this.closed || this.#end(chunk, chunk.length);
  }

  /** In HTTP/1.0 a streamed reply ends with its connection, so only a reset shows that it broke off. */
  destroy(): void {
    this.closed = true;
    const { req, socket } = this.response;
    if (req.httpVersion === '1.0' && socket && !('encrypted' in socket)) socket.resetAndDestroy();
    else this.response.destroy();
  }

  /** A small chunk counts as sent at once. */
  #end(chunk: string | Uint8Array, length: number): boolean {
    const small = length <= ONE_PIECE_BYTES;
    if (!small) this.response.once('finish', () => this.#sent());
    this.closed = small;
    this.response.end(chunk);
    return small;
  }

  #sent(): void {
    this.closed = true;
    this.onWritable();
  }

  #lost(): void {
    if (this.closed) return;
    this.closed = true;
    this.onClosed();
  }

  #writeHead(head: ReplyHead, length?: number): void {
    const headers = [...head.headers, ...connectionHeaders(head.close, KEEP_ALIVE_SECONDS)].flat();
    if (length !== undefined) headers.push('Content-Length', String(length));
    this.response.writeHead(head.status, headers);
  }
}

/** Header values are UTF-8 on both adapters; node:http reads them as Latin-1. */
const decodeValue = (value: string): string =>
  NOT_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;

function headOf({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): RequestHead {
  const head = new RequestHead(method, url, httpVersion === '1.0' ? '1.0' : '1.1');
  for (let at = 0; at < rawHeaders.length; at += 2) {
    head.add((rawHeaders[at] ?? '').toLowerCase(), decodeValue(rawHeaders[at + 1] ?? ''));
  }
  return head;
}

/** Whether the version is HTTP/1.x; node:http also accepts requests that claim HTTP/2.0. */
const isSpoken = ({ httpVersionMajor }: IncomingMessage): boolean => httpVersionMajor === 1;

type Invite = (() => void) | undefined;

function bodyOf(head: RequestHead, request: IncomingMessage, clock: Clock, invite: Invite): BodyPipe {
  const flow = { pause: () => void request.pause(), resume: () => void request.resume() };
  const source = invite ? { ...flow, invite } : flow;
  const body = new BodyPipe(source, clock, head.contentLength);
  request.on('data', (chunk: Buffer) => body.push(chunk));
  request.on('end', () => body.end());
  // The channel reports a client that left.
  request.on('error', () => undefined);
  return body;
}

function refuseVersion(channel: NodeChannel, unreadable: AdapterOptions['unreadable']): void {
  const { head, body } = unreadable(new ServiceError('http_version'));
  channel.whole(head, body);
}

/** Connections that end with the reply to a refused head; later requests on them are not served. */
const ending = new WeakSet<TcpSocket>();

/** `expects`: of requests with `Expect: 100-continue`. */
const onRequest =
  ({ arrived, dropped, unreadable, clock }: AdapterOptions, expects = false): RequestListener =>
  (request, response) => {
    // The parser continues with the data that it has read, even after a request whose connection was destroyed.
    if (request.socket.destroyed || ending.has(request.socket)) return;
    const head = headOf(request);
    if (head.isAmbiguous) {
      dropped();
      return void request.socket.destroy();
    }
    const channel = new NodeChannel(response);
    if (head.refusal || !isSpoken(request)) ending.add(request.socket);
    if (!isSpoken(request)) return refuseVersion(channel, unreadable);
    const invite = expects ? (): void => void (channel.closed || response.writeContinue()) : undefined;
    arrived({
      head,
      peerAddress: request.socket.remoteAddress ?? '',
      body: head.hasBody ? bodyOf(head, request, clock, invite) : undefined,
      channel,
    });
  };

/** Handles WebSocket handshakes; `other` gets the connection of a request for another protocol, and its bytes. */
const onUpgrade =
  (
    { arrived, dropped, unreadable }: AdapterOptions,
    upgrades: Upgrades,
    other: (socket: Duplex, bytes: Buffer) => void,
  ) =>
  (request: IncomingMessage, socket: Duplex, rest: Buffer): void => {
    if (socket.destroyed) return;
    const head = headOf(request);
    if (head.isAmbiguous) {
      dropped();
      return void socket.destroy();
    }
    if (!head.isHandshake) return other(socket, Buffer.concat([withoutUpgrade(request), rest]));
    socket.on('error', () => undefined);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as TcpSocket);
    response.on('finish', () => (socket as TcpSocket).destroySoon());
    const channel = new NodeChannel(response);
    if (!isSpoken(request)) return refuseVersion(channel, unreadable);
    const upgrade = (handshake: WireHandshake): void => {
      if (channel.closed) return;
      channel.closed = true;
      response.detachSocket(socket as TcpSocket);
      if (!upgrades.complete(request, socket, rest, handshake)) channel.onClosed();
    };
    const peerAddress = (socket as TcpSocket).remoteAddress ?? '';
    arrived({ head, peerAddress, body: undefined, channel, upgrade });
  };

/** The head of a request, without its wish for another protocol. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/**
 * Serves a request that asked for a protocol that is not supported, as clients do that prefer HTTP/2. node:http, which
 * has read only the head, reads it again without that wish.
 */
const servedAgain =
  (server: Server, { tls }: AdapterOptions) =>
  (socket: Duplex, bytes: Buffer): void => {
    socket.unshift(bytes);
    server.emit(tls ? 'secureConnection' : 'connection', socket);
  };

/** The unfinished reply of a connection, from a private field of node:http. */
const replyOwed = (socket: Duplex): ServerResponse | undefined =>
  (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;

/** Answers requests that the parser cannot read, unless another reply on the connection has begun or must come first. */
const onClientError =
  ({ unreadable }: AdapterOptions) =>
  (error: ClientError, socket: Duplex): void => {
    const owed = replyOwed(socket);
    const another = owed !== undefined && (owed.headersSent || owed.req.complete);
    if (error.code === 'ECONNRESET' || !socket.writable || another) return void socket.destroy();
    sayAndEnd(socket, unreadable(faultOf(error)));
  };

async function createFor({ tls }: AdapterOptions): Promise<Server> {
  if (!tls) return createServer(SERVER_OPTIONS);
  const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)]);
  return createTlsServer({ ...SERVER_OPTIONS, cert, key });
}

function bind(server: Server, { host, port, exclusive }: AdapterOptions): Promise<number> {
  // Node 22.12 knows `reusePort`; the types are those of Node 20.
  const given = { host, port, exclusive, backlog: BACKLOG };
  const options: ListenOptions & { reusePort?: boolean } = { ...given, reusePort: !exclusive };
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Rejects with node's own error if it cannot listen on the address. */
export async function listenNode(options: AdapterOptions): Promise<Adapter> {
  const server = await createFor(options);
  const upgrades = new Upgrades();
  // The guard limits the bytes of headers; node's limit on their number would drop some silently.
  server.maxHeadersCount = 0;
  server.on('request', onRequest(options));
  // A client that asks first is told to send once its body is read, so that a refusal comes before it.
  server.on('checkContinue', onRequest(options, true));
  // Expectations other than `100-continue`, which node itself would refuse; a server may ignore them.
  server.on('checkExpectation', onRequest(options));
  server.on('upgrade', onUpgrade(options, upgrades, servedAgain(server, options)));
  server.on('clientError', onClientError(options));
  const port = await bind(server, options);
  return {
    port,
    idleMs: IDLE_MS,
    endIdle() {
      server.closeIdleConnections();
      return true;
    },
    stopAccepting: () => void server.close(),
    async close() {
      upgrades.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
