/**
 * The adapter over uWebSockets.js. The binding's rules: a request object is dead after the handler returns, buffers
 * are emptied after the callback, a response is dead once it ended or aborted, writes go in a cork.
 * Replies are written in uws-channel.ts. Requests that the binding's parser refuses are answered by the binding, or not at all
 * (docs/http-stacks.md).
 */
import type { App, HttpRequest, HttpResponse, us_listen_socket, us_socket_context_t } from 'uWebSockets.js';
import type { WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import {
  type Adapter,
  type AdapterOptions,
  type Arrival,
  type WireHandshake,
  type Wire,
  type WireEvents,
  WIRE_FRAME_BYTES,
  WIRE_IDLE_SECONDS,
  frameOf,
} from './adapter.js';
import { BodyPipe } from '../bodies/body-pipe.js';
import { ChunkLanding } from '../bodies/landed-chunk.js';
import { AT_ONCE_BYTES } from '../bodies/structure.js';
import { Landing } from '../frames/landing.js';
import { PACKED_BYTES } from '../frames/packed-frames.js';
import { RequestHead } from './guard.js';
import { StandInServer } from './stand-in.js';
import { IDLE_MS, statusLine, UwsChannel } from './uws-channel.js';
import type { UwsModule } from './uws-module.js';

const textOf = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString('latin1');

class UwsWire implements Wire {
  constructor(private readonly socket: Opened) {}

  /** Never read once the socket is closed: the host knows that first. */
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

  /** Does nothing: the limit of frames is that of the context in which the socket was opened. */
  authenticated(): void {}
}

type Opened = WebSocket<Upgraded>;

interface Upgraded {
  /** Takes the socket; released once it is open. */
  keep: ((socket: Opened) => void) | undefined;
  events: WireEvents | undefined;
  /** Set once the socket has closed, which may happen while it is being opened. */
  closedWith: number | undefined;
}

/**
 * Delays a chunked or refused request until after the read that brought it. The parser is lax about the ends of
 * chunks, but closes a connection on which another request begins while a reply is owed. So bytes that a proxy
 * took for the body are never served as the next request.
 */
function afterParsing(head: RequestHead, task: () => void): void {
  if (head.chunked || head.refusal) setImmediate(task);
  else task();
}

function bodyOf(
  head: RequestHead,
  response: HttpResponse,
  channel: UwsChannel,
  clock: Clock,
  landing: ChunkLanding,
): BodyPipe {
  /** True after the last byte: the binding has stopped its timer for good, and the pair below would start it. */
  let complete = false;
  const source = {
    pause: () => void (channel.closed || complete || response.pause()),
    resume() {
      if (channel.closed) return;
      response.resume();
      if (complete) channel.keepAwake();
    },
    renew: () => channel.renew(),
  };
  const body = new BodyPipe(source, clock, head.contentLength);
  response.onData((chunk, isLast) => {
    complete = isLast;
    const { byteLength } = chunk;
    const owned = body.isDropped ? undefined : landing.land(chunk);
    afterParsing(head, () => {
      if (owned) body.push(owned, isLast);
      else body.skip(byteLength);
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

/** Whether the binding closes the connection with the answer, as it decides itself: it would go on with a socket that is closed. */
const closes = (request: HttpRequest): boolean => request.getHeader('connection').length === 'close'.length;

function upgrader(
  head: RequestHead,
  response: HttpResponse,
  channel: UwsChannel,
  standIn: StandInServer,
  contextFor: (handshake: WireHandshake) => us_socket_context_t | undefined,
): (handshake: WireHandshake) => void {
  return (handshake) => {
    const context = contextFor(handshake);
    if (channel.closed || context === undefined) return;
    channel.release();
    const key = head.headers.get('sec-websocket-key') ?? '';
    const socket = answered(response, handshake.headers, standIn, (user) =>
      response.upgrade(user, key, handshake.protocol ?? '', '', context),
    );
    if (socket) opened(socket, handshake);
  };
}

/** Answers 101, and returns the socket: in one segment if the request has just been read, else in about 18 (stand-in.ts). */
function answered(
  response: HttpResponse,
  headers: WireHandshake['headers'],
  standIn: StandInServer,
  upgrade: (user: Upgraded) => void,
): Opened | undefined {
  const sockets: Opened[] = [];
  response.cork(() => {
    response.writeStatus(statusLine(101));
    for (const [name, value] of headers) response.writeHeader(name, value);
  });
  standIn.cork(() =>
    upgrade({ keep: (socket) => sockets.push(socket), events: undefined, closedWith: undefined }),
  );
  return sockets[0];
}

/** Hands the socket over, which may close it at once. */
function opened(socket: Opened, handshake: WireHandshake): void {
  const user = socket.getUserData();
  user.events = handshake.opened(new UwsWire(socket));
  if (user.closedWith !== undefined) user.events.closed(user.closedWith);
}

/**
 * The behaviour of all sockets. The limit of frames belongs to a route, and so to the context that a socket is opened
 * in: there is one context for authenticated clients, and one for the others.
 */
const socketsOf = (landing: Landing): WebSocketBehavior<Upgraded> => ({
  idleTimeout: WIRE_IDLE_SECONDS,
  sendPingsAutomatically: true,
  maxBackpressure: 0,
  open(socket) {
    const user = socket.getUserData();
    user.keep?.(socket);
    user.keep = undefined;
  },
  message(socket, bytes, isBinary) {
    const { events } = socket.getUserData();
    if (!events?.admits(bytes.byteLength)) return;
    if (bytes.byteLength <= PACKED_BYTES && events.holds(bytes, !isBinary)) return;
    const landed = landing.land(bytes, !isBinary);
    // A short text is copied as it is decoded.
    const isDecoded = !isBinary && bytes.byteLength <= AT_ONCE_BYTES;
    events.message(landed ?? frameOf(Buffer.from(isDecoded ? bytes : bytes.slice(0)), isBinary));
  },
  drain(socket) {
    const user = socket.getUserData();
    // The binding would never retry a large frame that fails to leave within this callback (measured).
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

/** Rejects if it cannot listen on the address. `uws`: the native binding. */
export async function listenUws(uws: UwsModule, options: AdapterOptions): Promise<Adapter> {
  const receive = (response: HttpResponse, request: HttpRequest, context?: us_socket_context_t): void => {
    const contextFor = ({ unauthenticated }: WireHandshake): us_socket_context_t | undefined =>
      (unauthenticated && bounded) || context;
    const head = headOf(request);
    if (head.isAmbiguous) {
      options.dropped();
      return void response.close();
    }
    const channel = new UwsChannel(response, options.clock, head.headers.get('connection'));
    const arrival: Arrival = {
      head,
      peerAddress: textOf(response.getRemoteAddressAsText()),
      body: head.hasBody ? bodyOf(head, response, channel, options.clock, bodies) : undefined,
      channel,
      ...(context && head.isHandshake && !closes(request)
        ? { upgrade: upgrader(head, response, channel, standIn, contextFor) }
        : {}),
    };
    afterParsing(head, () => options.arrived(arrival));
  };
  const bodies = new ChunkLanding(options.memory, options.clock);
  // No "uWebSockets" header in replies.
  uws._cfg('silent');
  const standIn = await StandInServer.open(uws);
  const app = options.tls
    ? uws.SSLApp({ cert_file_name: options.tls.certFile, key_file_name: options.tls.keyFile })
    : uws.App();
  // Handshakes pass this route only so that its context becomes known, and continue to the next route.
  let bounded: us_socket_context_t | undefined;
  const sockets = socketsOf(new Landing(options.memory, options.clock));
  app.ws<Upgraded>('/:segment/*', {
    ...sockets,
    maxPayloadLength: LIMITS.unauthenticated.wireFrameBytes,
    upgrade(_response, request, context) {
      bounded = context;
      request.setYield(true);
    },
  });
  app.ws<Upgraded>('/*', { ...sockets, maxPayloadLength: WIRE_FRAME_BYTES, upgrade: receive });
  app.any('/*', (response, request) => receive(response, request));
  try {
    return await bind(uws, app, standIn, options);
  } catch (error) {
    standIn.end();
    throw error;
  }
}

function bind(
  uws: UwsModule,
  app: ReturnType<typeof App>,
  standIn: StandInServer,
  options: AdapterOptions,
): Promise<Adapter> {
  return new Promise((resolve, reject) => {
    const listening = (socket: us_listen_socket | false): void => {
      if (!socket) return reject(new Error(`cannot listen on port ${options.port}`));
      let open = true;
      const stopAccepting = (): void => {
        if (open) uws.us_listen_socket_close(socket);
        open = false;
      };
      // Idle connections end by themselves: this build cannot list them.
      const close = async (): Promise<void> => {
        stopAccepting();
        standIn.end();
      };
      const port = uws.us_socket_local_port(socket);
      resolve({ port, idleMs: IDLE_MS, endIdle: () => false, stopAccepting, close });
    };
    const flag = options.exclusive ? uws.LIBUS_LISTEN_EXCLUSIVE_PORT : 0;
    // The published types lack the form with host and options.
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
