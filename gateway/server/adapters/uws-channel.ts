/**
 * One reply over uWebSockets.js, and the timer of its connection.
 *
 * The binding has one timer per connection, of 8 to 12 s, after which it silently drops the connection. The timer runs
 * while a body is awaited (restarted every 160 KiB), while a reply is not read, and between two requests. `resume`
 * starts it too; the body's last byte, `pause`, and a client that reads on stop it. The server above decides how long
 * each of these may take, so the timer is restarted until then. Unavoidable: connections are kept alive for 8 s only
 * (KEEP_ALIVE_SECONDS announces it), and heads of more than about 100 headers are answered 431.
 */
import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from 'uWebSockets.js';
import type { Clock } from '../../../contracts/clock.js';
import { type SocketChannel, connectionHeaders, type ReplyHead } from './adapter.js';

/**
 * Most bytes written at once, as a piece, and as a whole reply with its head. With a chunk's frame or the head they fit
 * the 16 KiB that the binding gathers in a cork: more leaves in several writes, and is mangled under TLS if the client
 * reads slowly (measured).
 */
const PIECE_BYTES = 16 * 1024 - 64;
const WHOLE_BYTES = 14 * 1024;
const FIRST_PIECE_BYTES = 4 * 1024;
/** One second less than the shortest run of the binding's timer, so that no client sends just as it closes. */
const KEEP_ALIVE_SECONDS = 7;
/** A client that keeps to that has sent its next request by then; the binding's timer may run for 4 s more. */
export const IDLE_MS = (KEEP_ALIVE_SECONDS + 1) * 1000;
/** Well below the 8 s after which the binding's timer may expire. */
const RENEW_MS = 4000;
const NOTHING = new Uint8Array(0);
const nothing = (): void => undefined;

const statusLines = new Map<number, string>();
export function statusLine(status: number): string {
  const known = statusLines.get(status) ?? `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
  statusLines.set(status, known);
  return known;
}

const bytesOf = (chunk: string | Uint8Array): Uint8Array =>
  typeof chunk === 'string' ? Buffer.from(chunk) : chunk;

export class UwsChannel implements SocketChannel {
  closed = false;
  onClosed = nothing;
  onWritable = nothing;
  /** True if the last write went to the kernel completely. */
  #clear = true;
  /** The part of the last chunk that is not written yet. */
  #rest: Uint8Array = NOTHING;
  #endsWhenSent = false;
  /** The reply is the connection's last. */
  #closes = false;
  #cancelRenewal: (() => void) | undefined;

  constructor(
    private readonly response: HttpResponse,
    private readonly clock: Clock,
    /** The request's `Connection` header. */
    private readonly connection: string | undefined,
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
    if (body.length * (typeof body === 'string' ? 3 : 1) > WHOLE_BYTES) return this.#large(head, body);
    this.#end(head, (response) => {
      // Told to close, the binding writes the header itself, unless the client sent it; Node's client then waits for it.
      if (!head.close || this.connection?.length === 'close'.length) this.#writeConnection(head.close);
      response.end(body, head.close);
    });
    return true;
  }

  bare(head: ReplyHead, length?: number): void {
    if (this.closed) return;
    this.#end(head, (response) => {
      this.#writeConnection(head.close);
      // If the binding knew the length, it would wait for the body for ever.
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
      this.#writeHead(head);
      this.#writeConnection(head.close);
      this.#writePiece(FIRST_PIECE_BYTES);
    });
    return this.#advance();
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.closed) return true;
    this.#rest = bytesOf(chunk);
    return this.#advance();
  }

  finish(chunk: string | Uint8Array = NOTHING): boolean {
    if (this.closed) return true;
    this.#rest = bytesOf(chunk);
    this.#endsWhenSent = true;
    if (this.#rest.length > 0) return this.#advance();
    this.#endStream();
    return true;
  }

  destroy(): void {
    if (this.closed) return;
    this.#close();
    this.response.close();
  }

  /** Gives up the response, which has ended or become a WebSocket. */
  release(): void {
    this.#close();
  }

  #close(): void {
    this.closed = true;
    this.#cancelRenewal?.();
    this.#rest = NOTHING;
  }

  #end(head: ReplyHead, end: (response: HttpResponse) => void): void {
    this.#close();
    this.response.cork(() => {
      this.#writeHead(head);
      end(this.response);
    });
  }

  /** Ends the stream, with the rest of the last chunk. */
  #endStream(): void {
    if (this.closed) return;
    const rest = this.#rest;
    this.#close();
    this.response.cork(() => {
      if (rest.length > 0) this.response.write(rest);
      // Told to close here, the binding would write a Connection header into the last chunk; so reading stops instead.
      if (this.#closes) this.response.pause();
      this.response.end();
    });
  }

  #writeHead(head: ReplyHead): void {
    this.response.writeStatus(statusLine(head.status));
    for (const [name, value] of head.headers) this.response.writeHeader(name, value);
  }

  #writeConnection(close: boolean): void {
    for (const [name, value] of connectionHeaders(close, KEEP_ALIVE_SECONDS))
      this.response.writeHeader(name, value);
  }

  /** Sends as much of the rest as possible; returns whether everything so far has left. */
  #advance(): boolean {
    if (this.#clear) this.#pump();
    else this.#writeProbe();
    // The last corked bytes may not have left either, which the binding reports only with the next piece.
    this.keepAwake();
    return this.#clear;
  }

  #pump(): void {
    const held = this.#endsWhenSent ? PIECE_BYTES : 0;
    while (this.#clear && this.#rest.length > held) this.response.cork(() => this.#writePiece(PIECE_BYTES));
    if (this.#clear && this.#endsWhenSent) this.#endStream();
  }

  /** The binding buffers everything that it is given; writing one byte shows whether its buffer has been sent. */
  #writeProbe(): void {
    if (this.#rest.length > 0) this.response.cork(() => this.#writePiece(1));
    this.#pump();
  }

  #writePiece(size: number): void {
    this.#clear = this.response.write(this.#rest.subarray(0, size));
    this.#rest = this.#rest.subarray(size);
  }

  /** Sends in chunks, since the binding's partial sends of a body of known length stall under TLS. */
  #large(head: ReplyHead, body: string | Uint8Array): boolean {
    this.#endsWhenSent = true;
    return this.begin(head, body);
  }

  /** Handles `onWritable`. While a handler is set, the binding sends its buffer only when something is written or corked. */
  #drain(): boolean {
    if (this.closed) return true;
    // The binding has stopped its timer, and starts it again if the next write does not leave.
    this.#stopRenewal();
    this.response.cork(() => undefined);
    this.#writeProbe();
    if (!this.#clear) this.keepAwake();
    if (this.#rest.length > 0) return true;
    if (this.#endsWhenSent) this.#endStream();
    this.onWritable();
    return true;
  }

  /** Restarts the binding's timer, which may be running, at intervals until the binding stops it. */
  keepAwake(): void {
    if (this.closed) return;
    this.#cancelRenewal ??= this.clock.after(RENEW_MS, () => {
      this.#cancelRenewal = undefined;
      if (this.closed) return;
      this.renew();
      this.keepAwake();
    });
  }

  /** Restarts the timer. The two calls must come as a pair: either alone would leave the connection unread. */
  renew(): void {
    if (this.closed) return;
    this.response.pause();
    this.response.resume();
  }

  #stopRenewal(): void {
    this.#cancelRenewal?.();
    this.#cancelRenewal = undefined;
  }
}
