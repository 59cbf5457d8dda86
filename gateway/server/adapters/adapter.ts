/**
 * The port between an adapter (`uws.ts`, `node.ts`) and the server above it. An adapter only parses,
 * writes and reports; all decisions are made above it, so that both behave alike.
 *
 * Invariants: a channel sends exactly one reply, by `whole`, `bare`, or `begin` … `finish`; after `onClosed`
 * or `destroy` all its methods do nothing.
 */
import { AT_ONCE_BYTES } from '../bodies/structure.js';
import type { Clock } from '../../../contracts/clock.js';
import type { ServiceError } from '../../../contracts/errors.js';
import type { MemoryLedger } from '../../../contracts/ports/accounts/memory.js';
import type { BodyPipe } from '../bodies/body-pipe.js';
import { type SocketFrame, LongText } from '../frames/frame-queue.js';
import type { LandedFrame } from '../frames/landing.js';
import type { RequestHead } from './guard.js';

export interface ReplyHead {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Whether the connection ends with this reply. */
  readonly close: boolean;
}

export interface SocketChannel {
  readonly closed: boolean;
  /** Called if the connection ended before the reply was complete. */
  onClosed: () => void;
  /** Called after `whole`, `begin`, `write` or `finish` returned false, once everything so far is with the kernel. */
  onWritable: () => void;
  /** Sends a reply with its length. False: not all of it is with the kernel yet. */
  whole(head: ReplyHead, body: string | Uint8Array): boolean;
  /** Sends a reply without a body: to HEAD (`length` in bytes if known), or with a status that has none. */
  bare(head: ReplyHead, length?: number): void;
  /**
   * Sends head and first chunk of a streamed reply. False: wait for `onWritable`. `length`: bytes of the whole, if they are
   * known; a stack that can says so, and the client need not wait for the end.
   */
  begin(head: ReplyHead, chunk: string | Uint8Array, length?: number): boolean;
  write(chunk: string | Uint8Array): boolean;
  /** Sends the last chunk, if any, and ends the reply. False: not all of it is with the kernel yet. */
  finish(chunk?: string | Uint8Array): boolean;
  /** Breaks the connection at once, so that the part that was sent cannot pass for a complete reply. */
  destroy(): void;
}

/** One open WebSocket as its adapter sees it. */
export interface Wire {
  send(frame: string | Uint8Array): void;
  /** Bytes passed to `send` that are not with the kernel yet. */
  readonly bufferedBytes: number;
  /** Sends a close frame and ends the connection once the client has answered, or after a timeout. */
  end(code: number, reason: string): void;
  /** Drops the connection. */
  terminate(): void;
  /** Marks the client as known, which allows larger frames if the stack can change that. */
  authenticated(): void;
}

export interface WireEvents {
  /** Called with a frame's size before it is copied; false: drop the frame. */
  admits(byteLength: number): boolean;
  /**
   * Whether a frame of at most PACKED_BYTES has to wait, or is dropped; its bytes are lent for this call. False: `message` must be called.
   */
  holds(bytes: ArrayBuffer, isText: boolean): boolean;
  /** The bytes belong to the receiver. */
  message(frame: SocketFrame | LandedFrame): void;
  /** Some of the buffered bytes are with the kernel now. */
  flushed(): void;
  closed(code: number): void;
}

/** A frame of these bytes, which are its receiver's. */
export function frameOf(bytes: Buffer, isBinary: boolean): SocketFrame {
  if (isBinary) return bytes;
  return bytes.length > AT_ONCE_BYTES ? new LongText(bytes) : bytes.toString();
}

export interface WireHandshake {
  readonly protocol: string | undefined;
  readonly headers: ReplyHead['headers'];
  /** Frames above LIMITS.unauthenticated.wireFrameBytes end the connection, until `Wire.authenticated`. */
  readonly unauthenticated: boolean;
  opened(wire: Wire): WireEvents;
}

/** One request as it arrives. Its head has passed the guard. */
export interface Arrival {
  readonly head: RequestHead;
  /** In the adapter's spelling. */
  readonly peerAddress: string;
  readonly body: BodyPipe | undefined;
  readonly channel: SocketChannel;
  /** Answers 101 instead of a reply. Present if `head.isHandshake` and the stack recognised the handshake too. */
  readonly upgrade?: (handshake: WireHandshake) => void;
}

export interface AdapterOptions {
  readonly clock: Clock;
  /** Ledger of what waits in the process. */
  readonly memory: MemoryLedger;
  readonly host: string;
  readonly port: number;
  /** True: no other process may listen on the port. */
  readonly exclusive: boolean;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  arrived(arrival: Arrival): void;
  /** The reply to input that is no valid request; its connection ends with it. */
  unreadable(error: ServiceError): { readonly head: ReplyHead; readonly body: string };
  /** A connection was dropped because of an ambiguous head. */
  dropped(): void;
}

export interface Adapter {
  readonly port: number;
  /** How long clients may come back on an idle connection, in milliseconds. */
  readonly idleMs: number;
  /** Ends the connections that are idle. False: the stack cannot list them. */
  endIdle(): boolean;
  /** Accepts no more connections, and ends idle ones if the stack can. */
  stopAccepting(): void;
  /** Drops every connection that the stack knows of and waits until it has released them. */
  close(): Promise<void>;
}

/** A reply's headers about its connection. `seconds`: how long the stack keeps an idle connection at least. */
export const connectionHeaders = (close: boolean, seconds: number): ReplyHead['headers'] =>
  close
    ? [['Connection', 'close']]
    : [
        ['Connection', 'keep-alive'],
        ['Keep-Alive', `timeout=${seconds}`],
      ];

/** Largest frame that reaches the server, which refuses it with 1009; for a larger one the stack itself drops the connection. */
export const WIRE_FRAME_BYTES = 40 * 1024 * 1024;
/** Ping interval; two missed pings end a connection whose client has vanished. */
export const WIRE_IDLE_SECONDS = 120;
