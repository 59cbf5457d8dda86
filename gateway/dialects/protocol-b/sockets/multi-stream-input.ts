/**
 * One socket of `multi-stream-input` (docs/contract/protocol-b.md 3): frames name their context, an empty text keeps it
 * alive, and flags close a context or the socket. A failed synthesis ends only its own context, and a new context takes
 * the place of a closed one that still speaks.
 */
import type { SocketFault } from '../../../../actors/stream-input.js';
import { type ServiceError, TEXT_FAILURES } from '../../../../contracts/errors.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import { LongText } from '../../../server/frames/frame-queue.js';
import type { Socket, SocketEvents } from '../../../server/port.js';
import type { ProtocolBParts } from '../parts.js';
import type { ClientFrame } from './client-frames.js';
import { type Handshake, SpeechConnection } from './connection.js';
import type { SpeechContext } from './context.js';
import { Contexts } from './contexts.js';
import { GAVE_WAY, LATE_SETTINGS, TOO_MANY_CONTEXTS } from './faults.js';
import { ContextFrames } from './server-frames.js';

/** The context of frames that name none. */
const UNNAMED = 'default';

/** HTTP status that stands for a context that had to give way. */
const TOO_MANY = 429;

/**
 * Whether the failure concerns only its own context: no capacity right now, a failed engine, or a text that cannot be
 * spoken.
 */
const isItsOwn = ({ error }: SocketFault, status: number): boolean =>
  status === 429 || status >= 500 || TEXT_FAILURES.has(error);

export class MultiStreamInputSession implements SocketEvents {
  readonly #connection: SpeechConnection;
  readonly #contexts = new Contexts();

  constructor(socket: Socket, handshake: Handshake, parts: ProtocolBParts) {
    this.#connection = new SpeechConnection(socket, handshake, parts, {
      frame: (frame, caller) => this.#take(frame, caller),
      gone: () => this.#contexts.leaveAll(),
    });
  }

  message(data: string | Uint8Array): void {
    this.#connection.receive(data);
  }

  longText(bytes: Buffer): void {
    this.#connection.receive(new LongText(bytes));
  }

  tooBig(): void {
    this.#connection.tooBig();
  }

  exhausted(error: ServiceError): void {
    this.#connection.exhausted(error);
  }

  gone(): void {
    this.#connection.gone();
  }

  closed(): void {
    this.#connection.closed();
  }

  #take(frame: ClientFrame, caller: Caller): void {
    const name = frame.contextId ?? UNNAMED;
    const known = this.#contexts.find(name);
    if (known && frame.voiceSettings !== undefined) return this.#connection.refuse(LATE_SETTINGS);
    // A keep-alive (empty text) opens no context.
    const context = known ?? (frame.text ? this.#open(name, frame, caller) : undefined);
    context?.take(frame);
    if (frame.flags.has('close_socket')) this.#leave();
    else if (frame.flags.has('close_context')) this.#contexts.end(name);
  }

  #open(name: string, frame: ClientFrame, caller: Caller): SpeechContext | undefined {
    if (this.#contexts.full) this.#contexts.oldestEnding?.refuse(GAVE_WAY, TOO_MANY);
    if (this.#contexts.full) return void this.#connection.refuse(TOO_MANY_CONTEXTS);
    const frames = new ContextFrames(name);
    const over = (): void => context && this.#over(name, context);
    const context: SpeechContext | undefined = this.#connection.open(
      frame,
      caller,
      { frames, phrases: true },
      {
        idle: () => this.#contexts.end(name),
        finished: over,
        refused: (fault, status) => this.#refused(fault, status, frames, over),
      },
    );
    if (context) this.#contexts.add(name, context);
    return context;
  }

  #refused(fault: SocketFault, status: number, frames: ContextFrames, over: () => void): void {
    this.#connection.failed(status);
    if (!isItsOwn(fault, status)) return this.#connection.refuse(fault);
    this.#connection.socket.send(frames.fault(fault));
    over();
  }

  #over(name: string, context: SpeechContext): void {
    this.#contexts.remove(name, context);
    if (this.#contexts.empty) this.#connection.emptied();
  }

  #leave(): void {
    this.#connection.leave();
    this.#contexts.endAll();
  }
}
