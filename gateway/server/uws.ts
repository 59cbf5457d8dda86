/**
 * The adapter over uWebSockets.js. Its rules: a request object is dead after the handler returns, buffers
 * are emptied after the callback, a response is dead once it ended or aborted, writes go in a cork.
 *
 * It cuts a connection that takes nothing of a reply for 10 s, while a player may well pause for longer: its
 * timer is started anew until the exchange above decides that this is too long. It also drops uploads below
 * 16 KiB/s, heads of more than 48 headers, and idle connections after 10 s; nothing can be done about these.
 */
import { STATUS_CODES } from 'node:http';
import type {
  App,
  HttpRequest,
  HttpResponse,
  SSLApp,
  us_listen_socket,
  us_socket_context_t,
} from 'uWebSockets.js';
import type { WebSocket } from 'uWebSockets.js';
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import {
  type Adapter,
  type AdapterOptions,
  type Arrival,
  type Channel,
  type Handshake,
  type ReplyHead,
  type Wire,
  type WireEvents,
  WIRE_FRAME_BYTES,
  WIRE_IDLE_SECONDS,
} from './adapter.js';
import { BodyPipe } from './body-pipe.js';
import { RequestHead } from './guard.js';

/** The part of the native module that is used. */
export interface UwsModule {
  readonly App: typeof App;
  readonly SSLApp: typeof SSLApp;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  _cfg(setting: string): void;
}

/**
 * What is written at once. With a head or a chunk's frame it fits the 16 KiB that the binding gathers in a cork;
 * more than that is mangled under TLS when the client reads slowly (measured).
 */
const PIECE_BYTES = 14 * 1024;
const FIRST_PIECE_BYTES = 4 * 1024;
/** Well below the 10 s after which the binding drops a client that takes nothing. */
const NUDGE_MS = 4000;
const NOTHING = new Uint8Array(0);

const statusLines = new Map<number, string>();
function statusLine(status: number): string {
  const known = statusLines.get(status) ?? `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
  statusLines.set(status, known);
  return known;
}

const bytesOf = (chunk: string | Uint8Array): Uint8Array =>
  typeof chunk === 'string' ? Buffer.from(chunk) : chunk;

const textOf = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString('latin1');

class UwsChannel implements Channel {
  closed = false;
  onClosed: () => void = () => undefined;
  onWritable: () => void = () => undefined;
  /** Whether the last write has left for the kernel whole. */
  #clear = true;
  /** What of the last chunk has not been written. */
  #rest: Uint8Array = NOTHING;
  #endsWhenSent = false;
  /** The reply is the connection's last. */
  #closes = false;
  #cancelNudge: (() => void) | undefined;

  constructor(
    private readonly response: HttpResponse,
    private readonly clock: Clock,
  ) {
    response.onAborted(() => {
      if (this.closed) return;
      this.#close();
      this.onClosed();
    });
  }

  whole(head: ReplyHead, body: string | Uint8Array): boolean {
    if (this.closed) return true;
    // In UTF-8 a string may be three times as long.
    if (body.length * (typeof body === 'string' ? 3 : 1) > PIECE_BYTES) return this.#large(head, body);
    this.#end(head, (response) => response.end(body, head.close));
    return true;
  }

  bare(head: ReplyHead, length?: number): void {
    if (this.closed) return;
    this.#end(head, (response) => {
      if (head.close) response.writeHeader('Connection', 'close');
      // Told a length, the binding would take this reply for unfinished for ever.
      if (length !== undefined) response.writeHeader('Content-Length', String(length));
      response.endWithoutBody();
    });
  }

  begin(head: ReplyHead, chunk: string | Uint8Array): boolean {
    if (this.closed) return true;
    this.response.onWritable(() => this.#drain());
    this.#rest = bytesOf(chunk);
    this.#closes = head.close;
    this.response.cork(() => {
      this.#writeHead(head, head.close);
      this.#writePiece(FIRST_PIECE_BYTES);
    });
    return this.#advance();
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.closed) return true;
    this.#rest = bytesOf(chunk);
    return this.#advance();
  }

  finish(): void {
    if (this.closed) return;
    this.#close();
    this.response.cork(() => {
      // Asked to close here, it would write its Connection header into the last chunk; so nothing more is read.
      if (this.#closes) this.response.pause();
      this.response.end();
    });
  }

  destroy(): void {
    if (this.closed) return;
    this.#close();
    this.response.close();
  }

  /** The response is no longer ours: it has ended, or become a WebSocket. */
  release(): void {
    this.#close();
  }

  #close(): void {
    this.closed = true;
    this.#cancelNudge?.();
    this.#rest = NOTHING;
  }

  #end(head: ReplyHead, end: (response: HttpResponse) => void): void {
    this.#close();
    this.response.cork(() => {
      this.#writeHead(head, false);
      end(this.response);
    });
  }

  #writeHead(head: ReplyHead, close: boolean): void {
    this.response.writeStatus(statusLine(head.status));
    for (const [name, value] of head.headers) this.response.writeHeader(name, value);
    if (close) this.response.writeHeader('Connection', 'close');
  }

  /** Sends what it can of the rest; answers whether everything so far has left. */
  #advance(): boolean {
    if (this.#clear) this.#pump();
    else this.#writeProbe();
    if (this.#clear) this.#stopNudging();
    else this.#nudge();
    return this.#clear;
  }

  #pump(): void {
    while (this.#clear && this.#rest.length > 0) this.response.cork(() => this.#writePiece(PIECE_BYTES));
  }

  /** The binding keeps all that it is given; one byte tells whether it has let go of what it had. */
  #writeProbe(): void {
    if (this.#rest.length > 0) this.response.cork(() => this.#writePiece(1));
    this.#pump();
  }

  #writePiece(size: number): void {
    this.#clear = this.response.write(this.#rest.subarray(0, size));
    this.#rest = this.#rest.subarray(size);
  }

  /** In chunks, since the binding's way to send a body of known length by parts stalls under TLS. */
  #large(head: ReplyHead, body: string | Uint8Array): boolean {
    this.#endsWhenSent = !this.begin(head, body);
    if (!this.#endsWhenSent) this.finish();
    return !this.#endsWhenSent;
  }

  /** While a handler for it is set, the binding sends what it holds only when something is written or corked. */
  #drain(): boolean {
    if (this.closed) return true;
    this.response.cork(() => undefined);
    this.#writeProbe();
    if (this.#rest.length > 0) return true;
    if (this.#endsWhenSent) this.finish();
    this.onWritable();
    return true;
  }

  #nudge(): void {
    this.#cancelNudge ??= this.clock.after(NUDGE_MS, () => {
      this.#cancelNudge = undefined;
      if (this.closed) return;
      this.#restartTimer();
      this.#nudge();
    });
  }

  /** The two must come as a pair: each of them alone would leave the connection deaf. */
  #restartTimer(): void {
    this.response.pause();
    this.response.resume();
  }

  #stopNudging(): void {
    this.#cancelNudge?.();
    this.#cancelNudge = undefined;
  }
}

class UwsWire implements Wire {
  constructor(private readonly socket: WebSocket<Upgraded>) {}

  /** Never asked once the socket is closed: the host has been told by then. */
  get bufferedBytes(): number {
    return this.socket.getBufferedAmount();
  }

  send(frame: string | Uint8Array): void {
    this.socket.send(frame, typeof frame !== 'string');
  }

  end(code: number, reason: string): void {
    this.socket.end(code, reason);
  }

  terminate(): void {
    this.socket.close();
  }
}

interface Upgraded {
  readonly handshake: Handshake;
  events?: WireEvents;
  /** Set where the socket closed while it was being opened. */
  closedWith?: number;
}

/**
 * The parser is lax about the ends of chunks. While a reply is owed it closes a connection on which another
 * request begins, so nothing of a chunked request may be answered within the read that brought it: what a
 * proxy took for its body is then never served as the next request.
 */
function afterParsing(head: RequestHead, task: () => void): void {
  if (head.chunked) setImmediate(task);
  else task();
}

function bodyOf(head: RequestHead, response: HttpResponse, channel: UwsChannel, clock: Clock): BodyPipe {
  const source = {
    pause: () => void (channel.closed || response.pause()),
    resume: () => void (channel.closed || response.resume()),
  };
  const body = new BodyPipe(source, clock, head.contentLength);
  response.onData((chunk, isLast) => {
    const owned = new Uint8Array(chunk.slice(0));
    afterParsing(head, () => {
      body.push(owned);
      if (isLast) body.end();
    });
  });
  return body;
}

function headOf(request: HttpRequest): RequestHead {
  const query = request.getQuery() as string | undefined;
  const target = query === undefined ? request.getUrl() : `${request.getUrl()}?${query}`;
  const head = new RequestHead(request.getCaseSensitiveMethod(), target);
  request.forEach((name, value) => head.add(name, value));
  return head;
}

function upgrader(
  head: RequestHead,
  response: HttpResponse,
  channel: UwsChannel,
  context: us_socket_context_t,
): (handshake: Handshake) => void {
  return (handshake) => {
    if (channel.closed) return;
    channel.release();
    // Not in a cork: when its callback returns, the binding may take the fresh socket for a reply that is to close
    // its connection (measured: 1006 within milliseconds, on some connections that have served requests before).
    response.writeStatus(statusLine(101));
    for (const [name, value] of handshake.headers) response.writeHeader(name, value);
    const user: Upgraded = { handshake };
    const key = head.headers.get('sec-websocket-key') ?? '';
    response.upgrade(user, key, handshake.protocol ?? '', '', context);
  };
}

/** Rejects where the address cannot be listened on. `uws` is the native binding. */
export async function listenUws(
  uws: UwsModule,
  options: AdapterOptions & { clock: Clock },
): Promise<Adapter> {
  const receive = (response: HttpResponse, request: HttpRequest, context?: us_socket_context_t): void => {
    const head = headOf(request);
    if (!head.sound) return void response.close();
    const channel = new UwsChannel(response, options.clock);
    const arrival: Arrival = {
      head,
      peerAddress: textOf(response.getRemoteAddressAsText()),
      body: head.hasBody ? bodyOf(head, response, channel, options.clock) : undefined,
      channel,
      ...(context && head.isHandshake ? { upgrade: upgrader(head, response, channel, context) } : {}),
    };
    afterParsing(head, () => options.arrived(arrival));
  };
  // No "uWebSockets" header in replies.
  uws._cfg('silent');
  const app = options.tls
    ? uws.SSLApp({ cert_file_name: options.tls.certFile, key_file_name: options.tls.keyFile })
    : uws.App();
  app.ws<Upgraded>('/*', {
    maxPayloadLength: WIRE_FRAME_BYTES,
    idleTimeout: WIRE_IDLE_SECONDS,
    sendPingsAutomatically: true,
    maxBackpressure: 0,
    upgrade: receive,
    open(socket) {
      const user = socket.getUserData();
      user.events = user.handshake.opened(new UwsWire(socket));
      if (user.closedWith !== undefined) user.events.closed(user.closedWith);
    },
    message(socket, bytes, isBinary) {
      const { events } = socket.getUserData();
      if (!events?.admits(bytes.byteLength)) return;
      events.message(isBinary ? new Uint8Array(bytes.slice(0)) : Buffer.from(bytes).toString());
    },
    drain(socket) {
      const user = socket.getUserData();
      // A large frame that fails to leave within this callback would never be tried again (measured).
      setImmediate(() => {
        if (user.closedWith === undefined) user.events?.flushed();
      });
    },
    close(socket, code) {
      const user = socket.getUserData();
      user.closedWith = code;
      user.events?.closed(code);
    },
  });
  app.any('/*', (response, request) => receive(response, request));
  return await bind(uws, app, options);
}

function bind(uws: UwsModule, app: ReturnType<typeof App>, options: AdapterOptions): Promise<Adapter> {
  return new Promise((resolve, reject) => {
    const listening = (socket: us_listen_socket | false): void => {
      if (!socket) return reject(new Error(`cannot listen on port ${options.port}`));
      let open = true;
      const stopAccepting = (): void => {
        if (open) uws.us_listen_socket_close(socket);
        open = false;
      };
      // Idle connections end by themselves after 10 s: this build cannot name them.
      const close = async (): Promise<void> => stopAccepting();
      resolve({ port: uws.us_socket_local_port(socket), stopAccepting, close });
    };
    const flag = options.exclusive ? uws.LIBUS_LISTEN_EXCLUSIVE_PORT : 0;
    // The published types leave out the form with host and options.
    const listen = app.listen.bind(app) as unknown as (
      host: string,
      port: number,
      flag: number,
      listening: (socket: us_listen_socket | false) => void,
    ) => void;
    listen(options.host, options.port, flag, listening);
  });
}

/** Read by the binding once, as it loads. */
export const UWS_ENVIRONMENT = { UWS_HTTP_MAX_HEADERS_SIZE: String(LIMITS.http.headerBytes) } as const;
