/**
 * One reply over uWebSockets.js, and the timer of its connection.
 *
 * It has one timer a connection, of 8 to 12 s, behind which it drops the connection without a word. It runs while a
 * body is awaited (and is started anew every 160 KiB), while a reply is not read, and between two requests. `resume`
 * starts it too; what ends it is the body's last byte, `pause`, and a client that reads on. How long all of these may
 * take is decided above, so the timer is started anew until then. What cannot be helped: connections are kept alive
 * for 8 s only (KEEP_ALIVE_SECONDS says so), and heads of more than 48 headers are dropped.
 */
import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from 'uWebSockets.js';
import type { Clock } from '../../contracts/clock.js';
import { type Channel, connectionHeaders, type ReplyHead } from './adapter.js';

/**
 * Most bytes that are written at once, as a piece and with a head. With a chunk's frame or the head they fit the 16 KiB
 * that the binding gathers in a cork: more goes out in several writes, and is mangled under TLS when the client reads
 * slowly (measured).
 */
const PIECE_BYTES = 16 * 1024 - 64;
const WHOLE_BYTES = 14 * 1024;
const FIRST_PIECE_BYTES = 4 * 1024;
/** A second less than the least that the binding's timer takes, so that no client sends just as it closes. */
const KEEP_ALIVE_SECONDS = 7;
/** Well below the 8 s after which the binding's timer may run out. */
const RENEW_MS = 4000;
const NOTHING = new Uint8Array(0);

const statusLines = new Map<number, string>();
export function statusLine(status: number): string {
  const known = statusLines.get(status) ?? `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
  statusLines.set(status, known);
  return known;
}

const bytesOf = (chunk: string | Uint8Array): Uint8Array =>
  typeof chunk === 'string' ? Buffer.from(chunk) : chunk;

export class UwsChannel implements Channel {
  closed = false;
  onClosed: () => void = () => undefined;
  onWritable: () => void = () => undefined;
  /** Whether the last write has left for the kernel whole. */
  #clear = true;
  /** The rest of the last chunk, which has not been written. */
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
      // Told to close, the binding says so itself, unless the client has said it; Node's client then waits for it.
      if (!head.close || this.connection?.length === 'close'.length) this.#writeConnection(head.close);
      response.end(body, head.close);
    });
    return true;
  }

  bare(head: ReplyHead, length?: number): void {
    if (this.closed) return;
    this.#end(head, (response) => {
      this.#writeConnection(head.close);
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

  /** The response is no longer ours: it has ended, or become a WebSocket. */
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

  /** With the rest of the last chunk. */
  #endStream(): void {
    if (this.closed) return;
    const rest = this.#rest;
    this.#close();
    this.response.cork(() => {
      if (rest.length > 0) this.response.write(rest);
      // Asked to close here, it would write its Connection header into the last chunk; so nothing more is read.
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

  /** Sends what it can of the rest; answers whether everything so far has left. */
  #advance(): boolean {
    if (this.#clear) this.#pump();
    else this.#writeProbe();
    // The bytes that were corked last may not have left either, which the binding tells of with the next piece only.
    this.keepAwake();
    return this.#clear;
  }

  #pump(): void {
    const held = this.#endsWhenSent ? PIECE_BYTES : 0;
    while (this.#clear && this.#rest.length > held) this.response.cork(() => this.#writePiece(PIECE_BYTES));
    if (this.#clear && this.#endsWhenSent) this.#endStream();
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
    this.#endsWhenSent = true;
    return this.begin(head, body);
  }

  /** While a handler for it is set, the binding sends what it holds only when something is written or corked. */
  #drain(): boolean {
    if (this.closed) return true;
    // The binding has stopped its timer, and starts it again where what follows does not leave.
    this.#stopRenewal();
    this.response.cork(() => undefined);
    this.#writeProbe();
    if (!this.#clear) this.keepAwake();
    if (this.#rest.length > 0) return true;
    if (this.#endsWhenSent) this.#endStream();
    this.onWritable();
    return true;
  }

  /** The binding's timer may run: starts it anew, again and again, until the binding stops it. */
  keepAwake(): void {
    if (this.closed) return;
    this.#cancelRenewal ??= this.clock.after(RENEW_MS, () => {
      this.#cancelRenewal = undefined;
      if (this.closed) return;
      this.renew();
      this.keepAwake();
    });
  }

  /** The two must come as a pair: each of them alone would leave the connection deaf. */
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
