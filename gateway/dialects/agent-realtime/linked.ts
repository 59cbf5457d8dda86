/**
 * Both ends of a connection that is led to its session, in this process or through others: texts are events, bytes say how a side has
 * closed, and why.
 */
import { CLOSE, type CloseReason, endingFor } from '../../../contracts/close-codes.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { Log } from '../../../contracts/log.js';
import type { MemoryKind, MemoryLedger, MemoryShare } from '../../../contracts/ports/accounts/memory.js';
import type { SignalEnd, SignalLink } from '../../../contracts/ports/calls/calls.js';
import type { WayToCall } from '../../../contracts/ports/calls/socket-calls.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import { AT_ONCE_BYTES } from '../../server/bodies/structure.js';
import { SocketMemory } from '../../server/memory/socket-memory.js';
import type { Socket, SocketEvents } from '../../server/port.js';
import { toldOf } from '../protocol-a/realtime/faults.js';
import { ServerEvents } from '../protocol-a/realtime/server-events.js';
import type { SeatSocket } from './seat.js';

interface Ending {
  readonly code: number;
  readonly reason: string;
}

/** Of a connection that broke off (RFC 6455, 7.4.1). */
const BROKEN = 1006;
/** Longest reason of a close in bytes (RFC 6455, 5.5). */
const MOST_REASON = 123;

const said = ({ code, reason }: Ending): Uint8Array => Buffer.from(JSON.stringify({ code, reason }));

/** Undefined if the other side is of another release. */
function heardIn(bytes: Uint8Array): Ending | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    const { code, reason } = isPlainObject(value) ? value : {};
    if (typeof code !== 'number' || typeof reason !== 'string') return undefined;
    return { code, reason: reason.slice(0, MOST_REASON) };
  } catch {
    return undefined;
  }
}

const GONE = new ServiceError('engine_lost', { message: 'The machine of the call was lost' });
const NO_CALL = new ServiceError('not_found', { message: 'No call of this API has this id' });

/** The client's end: passes its events on, unread. */
export class LedSocket implements SocketEvents {
  readonly #end: SignalEnd | undefined;
  #ending: Ending | undefined;
  #hasHeard = false;

  constructor(
    private readonly socket: Socket,
    private readonly suffix: string,
    way: WayToCall,
    private readonly ended: () => void,
  ) {
    this.#end = way({
      memory: socket.memory('frame'),
      send: (frame) => this.#hear(frame),
      close: () => this.#close(),
    });
    if (!this.#end) this.#close();
  }

  #hear(frame: Uint8Array | string): void {
    this.#hasHeard = true;
    if (typeof frame === 'string') this.socket.send(frame);
    else this.#ending = heardIn(frame);
  }

  /** The session's end has closed: it says how, unless it was lost, or has no such session. */
  #close(): void {
    if (this.#ending) return this.socket.close(this.#ending);
    const error = this.#hasHeard ? GONE : NO_CALL;
    this.#tell(error);
    this.socket.close(this.#hasHeard ? 'internal' : { code: CLOSE.policy.code, reason: error.message });
  }

  #tell(error: ServiceError): void {
    new ServerEvents(this.socket, this.suffix).error(toldOf(error), null);
  }

  message(frame: string | Uint8Array): void {
    this.#end?.receive(typeof frame === 'string' ? frame : Buffer.from(frame).toString());
  }

  mustEnd(error: ServiceError): void {
    this.#tell(error);
    this.socket.close(endingFor(error.code));
  }

  closed(code: number): void {
    this.#end?.receive(said({ code, reason: '' }));
    this.#end?.closed();
    this.ended();
  }
}

export interface LinkedParts {
  readonly memory: MemoryLedger;
  readonly log: Log;
}

/** The session's end: a connection whose socket is elsewhere. */
export class LinkedSocket implements SeatSocket, SignalEnd {
  readonly #memory: SocketMemory;
  #events: SocketEvents | undefined;
  #closing = false;
  #code = BROKEN;

  /** `holder`: whose memory is charged for what waits. */
  constructor(
    private readonly link: SignalLink,
    holder: string,
    private readonly parts: LinkedParts,
  ) {
    this.#memory = new SocketMemory(
      parts.memory,
      () => holder,
      (error) => this.#events?.mustEnd?.(error),
    );
  }

  /** Who takes its events. Called once, at once. */
  serve(events: SocketEvents): this {
    this.#events = events;
    return this;
  }

  send(data: string | Uint8Array): void {
    if (!this.#closing) this.link.send(data);
  }

  close(reason: CloseReason | Ending): void {
    if (this.#closing) return;
    this.link.send(said(typeof reason === 'string' ? CLOSE[reason] : reason));
    this.#leave();
    this.link.close();
  }

  #leave(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#events?.gone?.();
    this.#memory.close();
  }

  failed(err: unknown): void {
    this.parts.log.error({ err }, 'a connection with a realtime call failed');
    this.close('internal');
  }

  memory(kind: MemoryKind, evict?: () => void): MemoryShare {
    return this.#memory.share(kind, evict);
  }

  receive(frame: Uint8Array | string): void {
    if (typeof frame !== 'string') this.#code = heardIn(frame)?.code ?? BROKEN;
    else if (this.#closing) return;
    else if (frame.length <= AT_ONCE_BYTES) this.#events?.message(frame);
    else this.#events?.longText?.(Buffer.from(frame));
  }

  closed(): void {
    this.#leave();
    this.#events?.closed(this.#code);
    this.#events = undefined;
  }
}
