/**
 * The port between an adapter (`uws.ts`, `node.ts`) and the server above it. An adapter parses,
 * writes and reports; everything that it could decide is decided above, so that both behave alike.
 *
 * Invariants: a channel sends exactly one reply, by `whole`, `bare`, or `begin` … `finish`; after `onClosed`
 * or `destroy` all its methods do nothing.
 */
import type { ServiceError } from '../../contracts/errors.js';
import type { BodyPipe } from './body-pipe.js';
import type { RequestHead } from './guard.js';

export interface ReplyHead {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Whether the connection ends with this reply. */
  readonly close: boolean;
}

export interface Channel {
  readonly closed: boolean;
  /** The connection went before the reply was whole. */
  onClosed: () => void;
  /** After `whole`, `begin`, `write` or `finish` answered false: everything so far has left for the kernel. */
  onWritable: () => void;
  /** A reply with its length. False: not all of it has left yet. */
  whole(head: ReplyHead, body: string | Uint8Array): boolean;
  /** A reply without its body: to HEAD (`length` in bytes where known), or a status that has none. */
  bare(head: ReplyHead, length?: number): void;
  /** Head and first chunk of a streamed reply. False: wait for `onWritable`. */
  begin(head: ReplyHead, chunk: string | Uint8Array): boolean;
  write(chunk: string | Uint8Array): boolean;
  /** The last chunk, if there is one, and the end. False: not all of it has left yet. */
  finish(chunk?: string | Uint8Array): boolean;
  /** Ends the connection at once, so that what was sent cannot pass for a whole reply. */
  destroy(): void;
}

/** One open WebSocket as its adapter sees it. */
export interface Wire {
  send(frame: string | Uint8Array): void;
  /** Bytes given to `send` that have not left for the kernel. */
  readonly bufferedBytes: number;
  /** Sends a close frame and ends the connection once the client has answered, or has had time to. */
  end(code: number, reason: string): void;
  /** Drops the connection. */
  terminate(): void;
  /** The client is known: larger frames may come, where the stack can change that. */
  authenticated(): void;
}

export interface WireEvents {
  /** Asked with a frame's size before it is copied; false: leave it out. */
  admits(byteLength: number): boolean;
  /** The bytes belong to the receiver. */
  message(frame: string | Uint8Array): void;
  /** Some of the buffered bytes have left. */
  flushed(): void;
  closed(code: number): void;
}

export interface Handshake {
  readonly protocol: string | undefined;
  readonly headers: ReplyHead['headers'];
  /** Frames above LIMITS.unauthenticated.frameBytes end the connection, until `Wire.authenticated`. */
  readonly unauthenticated: boolean;
  opened(wire: Wire): WireEvents;
}

/** One request as it arrives. Its head has passed the guard. */
export interface Arrival {
  readonly head: RequestHead;
  /** As the adapter spells it. */
  readonly peerAddress: string;
  readonly body: BodyPipe | undefined;
  readonly channel: Channel;
  /** Answers 101, instead of a reply. Present where `head.isHandshake` and the stack has seen that as well. */
  readonly upgrade?: (handshake: Handshake) => void;
}

export interface AdapterOptions {
  readonly host: string;
  readonly port: number;
  /** Whether no other process may listen on the port. */
  readonly exclusive: boolean;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  arrived(arrival: Arrival): void;
  /** The reply to what is no request that could arrive; its connection ends with it. */
  unreadable(error: ServiceError): { readonly head: ReplyHead; readonly body: string };
  /** A connection was dropped for a head that is ambiguous. */
  dropped(): void;
}

export interface Adapter {
  readonly port: number;
  /** Accepts no more connections; idle ones are ended where the stack can. */
  stopAccepting(): void;
  /** Drops every connection that the stack knows of and waits until it has let go. */
  close(): Promise<void>;
}

/** A reply's headers about its connection. `seconds`: for how long the stack keeps it at least, with nothing on it. */
export const connectionHeaders = (close: boolean, seconds: number): ReplyHead['headers'] =>
  close
    ? [['Connection', 'close']]
    : [
        ['Connection', 'keep-alive'],
        ['Keep-Alive', `timeout=${seconds}`],
      ];

/** Largest frame that reaches the server, where it is refused with 1009; above it a stack drops by itself. */
export const WIRE_FRAME_BYTES = 40 * 1024 * 1024;
/** Two missed pings of this spacing end a connection whose client is gone without a word. */
export const WIRE_IDLE_SECONDS = 120;
