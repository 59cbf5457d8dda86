/**
 * The adapter over uWebSockets.js. Its rules: a request object is dead after the handler returns, buffers
 * are emptied after the callback, a response is dead once it ended or aborted, writes go in a cork.
 *
 * It cuts a connection that takes nothing of a reply for 10 s, while a player may well pause for longer;
 * pausing the reading side suspends that timer, so a reply under back-pressure is paused until it flows.
 */
import { STATUS_CODES } from 'node:http';
import type { App, HttpRequest, HttpResponse, SSLApp, us_listen_socket, us_socket_context_t } from 'uWebSockets.js';
import type { WebSocket } from 'uWebSockets.js';
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import {
  type Adapter,
  type AdapterOptions,
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

/** Bodies up to this go in one piece; larger ones as the client reads. */
const ONE_PIECE_BYTES = 64 * 1024;

const statusLines = new Map<number, string>();
function statusLine(status: number): string {
  const known = statusLines.get(status) ?? `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
  statusLines.set(status, known);
  return known;
}

const textOf = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString('latin1');

class UwsChannel implements Channel {
  closed = false;
  onClosed: () => void = () => undefined;
  onWritable: () => void = () => undefined;
  #paused = false;
  /** Sends more of a body in one piece; answers whether all of it has left. */
  #continue: (() => boolean) | undefined;

  constructor(readonly response: HttpResponse) {
    response.onAborted(() => this.lost());
  }

  lost(): void {
    if (this.closed) return;
    this.closed = true;
    this.onClosed();
  }

  whole(head: ReplyHead, body: string | Uint8Array): boolean {
    if (this.closed) return true;
    if (body.length <= ONE_PIECE_BYTES) {
      this.#end(head, (response) => response.end(body, head.close));
      return true;
    }
    return this.#large(head, typeof body === 'string' ? Buffer.from(body) : body);
  }

  bare(head: ReplyHead, length?: number): void {
    if (!this.closed) this.#end(head, (response) => response.endWithoutBody(length, head.close));
  }

  begin(head: ReplyHead, chunk: string | Uint8Array): boolean {
    if (this.closed) return true;
    this.response.onWritable(() => this.#flow());
    let flowing = true;
    this.response.cork(() => {
      this.#writeHead(head, head.close);
      flowing = this.response.write(chunk);
    });
    return this.#pausedUnless(flowing);
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.closed) return true;
    let flowing = true;
    this.response.cork(() => {
      flowing = this.response.write(chunk);
    });
    return this.#pausedUnless(flowing);
  }

  finish(): void {
    if (this.closed) return;
    this.closed = true;
    // Asked to close here, it would write its Connection header into the last chunk.
    this.response.cork(() => this.response.end());
  }

  destroy(): void {
    if (this.closed) return;
    this.closed = true;
    this.response.close();
  }

  #end(head: ReplyHead, end: (response: HttpResponse) => void): void {
    this.closed = true;
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

  /** `tryEnd` keeps nothing of what it could not send: the rest is offered again each time it is writable. */
  #large(head: ReplyHead, bytes: Uint8Array): boolean {
    const start = (): boolean => {
      const [, done] = this.response.tryEnd(bytes.subarray(this.response.getWriteOffset()), bytes.byteLength);
      if (done) this.closed = true;
      return done;
    };
    this.#continue = start;
    this.response.onWritable(() => this.#flow());
    let done = false;
    this.response.cork(() => {
      this.#writeHead(head, head.close);
      done = start();
    });
    return done || this.#pausedUnless(false);
  }

  #flow(): boolean {
    if (this.closed) return true;
    if (this.#continue && !this.#continue()) return this.#pausedUnless(false);
    this.#pausedUnless(true);
    this.onWritable();
    return true;
  }

  #pausedUnless(flowing: boolean): boolean {
    if (this.closed || this.#paused === !flowing) return flowing;
    this.#paused = !flowing;
    if (flowing) this.response.resume();
    else this.response.pause();
    return flowing;
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
}

function bodyOf(head: RequestHead, response: HttpResponse, channel: UwsChannel, clock: Clock): BodyPipe {
  const source = {
    pause: () => void (channel.closed || response.pause()),
    resume: () => void (channel.closed || response.resume()),
  };
  const body = new BodyPipe(source, clock, head.contentLength);
  response.onData((chunk, isLast) => {
    body.push(new Uint8Array(chunk.slice(0)));
    if (isLast) body.end();
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
    channel.closed = true;
    response.cork(() => {
      response.writeStatus(statusLine(101));
      for (const [name, value] of handshake.headers) response.writeHeader(name, value);
      const user: Upgraded = { handshake };
      const key = head.headers.get('sec-websocket-key') ?? '';
      response.upgrade(user, key, handshake.protocol ?? '', '', context);
    });
  };
}

/** Rejects where the address cannot be listened on. `uws` is the native binding. */
export async function listenUws(uws: UwsModule, options: AdapterOptions & { clock: Clock }): Promise<Adapter> {
  const receive = (response: HttpResponse, request: HttpRequest, context?: us_socket_context_t): void => {
    const head = headOf(request);
    if (!head.sound) return void response.close();
    const channel = new UwsChannel(response);
    options.arrived({
      head,
      peerAddress: textOf(response.getRemoteAddressAsText()),
      body: head.hasBody ? bodyOf(head, response, channel, options.clock) : undefined,
      channel,
      ...(context && head.isHandshake ? { upgrade: upgrader(head, response, channel, context) } : {}),
    });
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
    },
    message(socket, bytes, isBinary) {
      const { events } = socket.getUserData();
      if (!events?.admits(bytes.byteLength)) return;
      events.message(isBinary ? new Uint8Array(bytes.slice(0)) : Buffer.from(bytes).toString());
    },
    drain: (socket) => socket.getUserData().events?.flushed(),
    close: (socket, code) => socket.getUserData().events?.closed(code),
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
