/**
 * One connection with a session's events: that of its client, or of somebody who watches it.
 *
 * Invariants: its events are taken in order; a faulty one gets one `error`, and the socket stays open; nothing is taken once it closes.
 */
import { endingFor } from '../../../contracts/close-codes.js';
import type { ServiceError } from '../../../contracts/errors.js';
import { memoryExhausted } from '../../../contracts/ports/accounts/memory.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import { FrameQueue, LongText, type SocketFrame } from '../../server/frames/frame-queue.js';
import type { Socket, SocketEvents } from '../../server/port.js';
import { appendedAudio, readFields } from '../protocol-a/realtime/client-events.js';
import { Fault } from '../protocol-a/realtime/faults.js';

/** What a seat needs of its connection. */
export type SeatSocket = Pick<Socket, 'send' | 'close' | 'memory' | 'failed'>;

const TOO_MANY_FRAMES = 'Too much came before an earlier event was read or answered; this one was dropped';

type Read = PlainObject | undefined;

/** The session that it belongs to. */
export interface SeatHost {
  /** Errors: those of the event. */
  append(audio: unknown, seat: Seat): void;
  /** A promise if later events must wait; it never rejects. */
  take(fields: PlainObject, seat: Seat): Promise<void> | undefined;
  refuse(error: unknown, eventId: string | null, seat: Seat): void;
  /** It has to go, through no fault of its own. */
  mustEnd(seat: Seat): void;
  gone(seat: Seat): void;
  closed(seat: Seat, code: number): void;
}

export class Seat implements SocketEvents {
  readonly #frames: FrameQueue<Read>;

  constructor(
    readonly socket: SeatSocket,
    private readonly host: SeatHost,
    /** Called once its connection is closed. */
    private readonly ended: () => void = () => undefined,
  ) {
    const refuse = (error: unknown): void => host.refuse(error, null, this);
    this.#frames = new FrameQueue(socket, {
      read: (frame) => this.#read(frame),
      take: (fields) => (fields ? host.take(fields, this) : undefined),
      failed: refuse,
      full: () => refuse(new Fault('conversation_too_large', TOO_MANY_FRAMES)),
      exhausted: () => refuse(memoryExhausted()),
    });
  }

  message(frame: string | Uint8Array): void {
    this.#frames.push(frame);
  }

  longText(bytes: Buffer): void {
    this.#frames.push(new LongText(bytes));
  }

  /** Audio in the usual spelling needs no parser. */
  #read(frame: SocketFrame): Read | Promise<Read> {
    const audio = typeof frame === 'string' ? appendedAudio(frame) : undefined;
    if (audio === undefined) return readFields(frame);
    this.host.append(audio, this);
    return undefined;
  }

  mustEnd(error: ServiceError): void {
    this.host.refuse(error, null, this);
    this.host.mustEnd(this);
    this.socket.close(endingFor(error.code));
  }

  gone(): void {
    this.#frames.clear();
    this.host.gone(this);
  }

  closed(code: number): void {
    this.host.closed(this, code);
    this.ended();
  }
}
