/** The adapter over node:http(s) and `ws`: taken where the native binding of the other one does not load. */
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
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import {
  type Adapter,
  type AdapterOptions,
  type Channel,
  type Handshake,
  type ReplyHead,
  type Wire,
  WIRE_FRAME_BYTES,
  WIRE_IDLE_SECONDS,
} from './adapter.js';
import { BodyPipe } from './body-pipe.js';
import { RequestHead } from './guard.js';

const SERVER_OPTIONS = {
  maxHeaderSize: LIMITS.http.headerBytes,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2000,
  // The pace of uploads is checked above, and time to the first byte as well.
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  // The guard does that, and ends the connection, which node:http does not.
  requireHostHeader: false,
};

/** Replies up to this count as sent when they are given to the kernel's side. */
const ONE_PIECE_BYTES = 64 * 1024;

// eslint-disable-next-line no-control-regex -- anything but ASCII
const NOT_ASCII = /[^\x00-\x7f]/;

class NodeChannel implements Channel {
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
    const small = length <= ONE_PIECE_BYTES;
    if (!small) this.response.once('finish', () => this.#sent());
    this.closed = small;
    this.response.end(body);
    return small;
  }

  bare(head: ReplyHead, length?: number): void {
    if (this.closed) return;
    this.#writeHead(head, length);
    this.closed = true;
    this.response.end();
  }

  begin(head: ReplyHead, chunk: string | Uint8Array): boolean {
    if (this.closed) return true;
    this.#writeHead(head);
    return this.response.write(chunk);
  }

  write(chunk: string | Uint8Array): boolean {
    return this.closed || this.response.write(chunk);
  }

  finish(): void {
    if (this.closed) return;
    this.closed = true;
    this.response.end();
  }

  destroy(): void {
    this.closed = true;
    this.response.destroy();
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
    const headers = head.headers.flatMap(([name, value]) => [name, value]);
    if (length !== undefined) headers.push('Content-Length', String(length));
    if (head.close) headers.push('Connection', 'close');
    this.response.writeHead(head.status, headers);
  }
}

class NodeWire implements Wire {
  constructor(
    private readonly socket: WebSocket,
    private readonly flushed: () => void,
  ) {}

  get bufferedBytes(): number {
    return this.socket.bufferedAmount;
  }

  send(frame: string | Uint8Array): void {
    this.socket.send(frame, { binary: typeof frame !== 'string' }, this.flushed);
  }

  end(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }
}

/** Header values are UTF-8 on both adapters; node:http reads them as Latin-1. */
const decodeValue = (value: string): string =>
  NOT_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;

function headOf({ method = '', url = '', rawHeaders }: IncomingMessage): RequestHead {
  const head = new RequestHead(method, url);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    head.add((rawHeaders[at] ?? '').toLowerCase(), decodeValue(rawHeaders[at + 1] ?? ''));
  }
  return head;
}

/** node:http also takes what calls itself HTTP/2.0. */
const isSound = (request: IncomingMessage, head: RequestHead): boolean =>
  request.httpVersionMajor === 1 && head.sound;

function bodyOf(head: RequestHead, request: IncomingMessage, clock: Clock): BodyPipe {
  const source = { pause: () => void request.pause(), resume: () => void request.resume() };
  const body = new BodyPipe(source, clock, head.contentLength);
  request.on('data', (chunk: Buffer) => body.push(chunk));
  request.on('end', () => body.end());
  // The channel tells of a client that left.
  request.on('error', () => undefined);
  return body;
}

/** WebSockets by `ws`, which only frames; it is given handshakes that have been decided on. */
class Upgrades {
  readonly #handshakes = new WeakMap<IncomingMessage, Handshake>();
  readonly #quiet = new Map<WebSocket, boolean>();
  readonly #pings: NodeJS.Timeout;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: WIRE_FRAME_BYTES,
    handleProtocols: (_offered, request) => this.#handshakes.get(request)?.protocol ?? false,
  });

  constructor() {
    this.#pings = setInterval(() => this.#ping(), (WIRE_IDLE_SECONDS / 2) * 1000).unref();
    this.#server.on('headers', (lines, request) => {
      for (const [name, value] of this.#handshakes.get(request)?.headers ?? [])
        lines.push(`${name}: ${value}`);
    });
  }

  complete(request: IncomingMessage, socket: Duplex, rest: Buffer, handshake: Handshake): void {
    this.#handshakes.set(request, handshake);
    this.#server.handleUpgrade(request, socket, rest, (websocket) => this.#opened(websocket, handshake));
  }

  close(): void {
    clearInterval(this.#pings);
    for (const socket of this.#quiet.keys()) socket.terminate();
  }

  #opened(socket: WebSocket, handshake: Handshake): void {
    this.#quiet.set(socket, false);
    const events = handshake.opened(new NodeWire(socket, () => events?.flushed()));
    socket.on('message', (data: Buffer, isBinary) => {
      this.#quiet.set(socket, false);
      if (events.admits(data.byteLength)) events.message(isBinary ? data : data.toString());
    });
    socket.on('pong', () => this.#quiet.set(socket, false));
    // It closes the socket itself, with the code that fits.
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      this.#quiet.delete(socket);
      events.closed(code);
    });
  }

  #ping(): void {
    for (const [socket, quiet] of this.#quiet) {
      if (quiet) socket.terminate();
      else {
        this.#quiet.set(socket, true);
        socket.ping();
      }
    }
  }
}

type Receive = AdapterOptions['arrived'];

const onRequest =
  (arrived: Receive, clock: Clock): RequestListener =>
  (request, response) => {
    // The parser goes on through what it has read, past a request whose connection was destroyed.
    if (request.socket.destroyed) return;
    const head = headOf(request);
    if (!isSound(request, head)) return void request.socket.destroy();
    arrived({
      head,
      peerAddress: request.socket.remoteAddress ?? '',
      body: head.hasBody ? bodyOf(head, request, clock) : undefined,
      channel: new NodeChannel(response),
    });
  };

/** A handshake, or a request for some other protocol, which is answered as if it had not asked. */
const onUpgrade =
  (arrived: Receive, upgrades: Upgrades) =>
  (request: IncomingMessage, socket: Duplex, rest: Buffer): void => {
    socket.on('error', () => undefined);
    if (socket.destroyed) return;
    const head = headOf(request);
    if (!isSound(request, head) || head.hasBody) return void socket.destroy();
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as TcpSocket);
    response.on('finish', () => (socket as TcpSocket).destroySoon());
    const channel = new NodeChannel(response);
    const upgrade = (handshake: Handshake): void => {
      if (channel.closed) return;
      channel.closed = true;
      response.detachSocket(socket as TcpSocket);
      upgrades.complete(request, socket, rest, handshake);
    };
    arrived({
      head,
      peerAddress: (socket as TcpSocket).remoteAddress ?? '',
      body: undefined,
      channel,
      ...(head.isHandshake ? { upgrade } : {}),
    });
  };

async function createFor({ tls }: AdapterOptions): Promise<Server> {
  if (!tls) return createServer(SERVER_OPTIONS);
  const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)]);
  return createTlsServer({ ...SERVER_OPTIONS, cert, key });
}

function bind(server: Server, { host, port, exclusive }: AdapterOptions): Promise<number> {
  // Node 22.12 knows `reusePort`; the types are those of Node 20.
  const options: ListenOptions & { reusePort?: boolean } = { host, port, exclusive, reusePort: !exclusive };
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Rejects with node's own error where the address cannot be listened on. */
export async function listenNode(options: AdapterOptions & { clock: Clock }): Promise<Adapter> {
  const server = await createFor(options);
  const upgrades = new Upgrades();
  // The guard counts bytes; a cap on their number would leave out headers without a word.
  server.maxHeadersCount = 0;
  server.on('request', onRequest(options.arrived, options.clock));
  server.on('upgrade', onUpgrade(options.arrived, upgrades));
  const port = await bind(server, options);
  return {
    port,
    stopAccepting: () => void server.close(),
    async close() {
      upgrades.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
