/**
 * A WebSocket to one address of a remote service that the operator chose. Frames are read one by one: while nobody reads, no more are taken
 * from the connection. Nothing is retried; a refusal of the handshake keeps its status; an abort ends the connection at once.
 */
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import {
  broken,
  endpoint,
  headersFor,
  refusalOf,
  type RemoteAddress,
  type RemoteRequest,
} from './request.js';

export type SocketRequest = Pick<RemoteRequest, 'path' | 'headers' | 'traceContext' | 'refusal'>;
export type SocketFrame = string | Buffer;

/** Frames that wait for their reader. */
const MOST_WAITING = 16;
/** Closed as agreed, or without a code, as some services do. */
const ORDINARY = new Set([1000, 1005]);

/** Loaded with the first socket, because a gateway may never open one. */
const library = async () => (await import('ws')).WebSocket;

/** As `http` has it, or as `ws` for who thinks of sockets. */
const socketUrl = (url: string, path: string): string => {
  const { origin, path: below } = endpoint(url, path);
  return `${origin.replace(/^http/, 'ws')}${below}`;
};

/** Resolves when it is open. Errors: `provider_failed`, with the status of a refusal. */
const opened = (socket: WebSocket, address: RemoteAddress, request: SocketRequest): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (asked, response: IncomingMessage) => {
      const { statusCode = 0, headers } = response;
      void refusalOf({ statusCode, headers, body: response }, address, request)
        .then(reject)
        .finally(() => asked.destroy());
    });
    socket.on('error', (cause) => reject(broken(cause, address)));
    socket.once('close', (code) => reject(broken(new Error(`It closed with ${code}`), address)));
  });

export class RemoteSocket {
  readonly #waiting: SocketFrame[] = [];
  #wake: (() => void) | undefined;
  /** Set once it is closed: why, if that was not as agreed. */
  #closed: { readonly error: ServiceError | undefined } | undefined;

  private constructor(
    private readonly socket: WebSocket,
    readonly address: RemoteAddress,
    private signal: AbortSignal,
  ) {
    socket.on('message', (data: Buffer, isBinary: boolean) =>
      this.#receive(isBinary ? data : data.toString()),
    );
    socket.once('close', (code) => {
      const error = ORDINARY.has(code) ? undefined : broken(new Error(`It closed with ${code}`), address);
      this.#closed = { error };
      this.signal.removeEventListener('abort', this.end);
      this.#wake?.();
    });
    this.follow(signal);
  }

  /** Whether it can be used. */
  get isOpen(): boolean {
    return !this.#closed && this.socket.readyState === this.socket.OPEN;
  }

  /** Ends with that signal from now on, and with no other. */
  follow(signal: AbortSignal): void {
    this.signal.removeEventListener('abort', this.end);
    this.signal = signal;
    if (signal.aborted) this.end();
    else signal.addEventListener('abort', this.end);
  }

  /** Errors: `provider_failed` with the service's status; 502 without one, and if the service refuses the key; the reason of an abort. */
  static async open(
    address: RemoteAddress,
    request: SocketRequest,
    signal: AbortSignal,
  ): Promise<RemoteSocket> {
    const Socket = await library();
    signal.throwIfAborted();
    const socket = new Socket(socketUrl(address.url, request.path), {
      headers: headersFor(address, request),
      perMessageDeflate: false,
      maxPayload: LIMITS.remote.socketFrameBytes,
      followRedirects: false,
    });
    const ours = new RemoteSocket(socket, address, signal);
    try {
      await opened(socket, address, request);
    } catch (error) {
      ours.end();
      signal.throwIfAborted();
      throw error;
    }
    return ours;
  }

  /** Resolves when the frame has left this process. Errors: `provider_failed`. */
  send(frame: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) =>
      this.socket.send(frame, (cause) => {
        if (!cause) return resolve();
        reject(this.signal.aborted ? (this.signal.reason as Error) : broken(cause, this.address));
      }),
    );
  }

  /** The frames as they come, until the service closes. Errors: `provider_failed` if it breaks off; the reason of an abort. */
  async *frames(): AsyncGenerator<SocketFrame> {
    for (;;) {
      this.signal.throwIfAborted();
      const frame = this.#waiting.shift();
      if (frame !== undefined) {
        if (this.#waiting.length === 0 && this.socket.isPaused) this.socket.resume();
        yield frame;
        continue;
      }
      if (this.#closed?.error) throw this.#closed.error;
      if (this.#closed) return;
      await new Promise<void>((wake) => (this.#wake = wake));
    }
  }

  /** Ends the connection at once. Idempotent. */
  readonly end = (): void => this.socket.terminate();

  #receive(frame: SocketFrame): void {
    this.#waiting.push(frame);
    if (this.#waiting.length >= MOST_WAITING) this.socket.pause();
    this.#wake?.();
  }
}

/** The object in a frame. Errors: `provider_failed` if it is none. */
export function objectIn(frame: SocketFrame): PlainObject {
  try {
    const value: unknown = typeof frame === 'string' ? JSON.parse(frame) : undefined;
    if (isPlainObject(value)) return value;
  } catch {
    // falls through to the one error
  }
  throw new ServiceError('provider_failed', { message: 'The speech provider did not answer JSON' });
}
