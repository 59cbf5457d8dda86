/**
 * One socket of `multi-stream-input` (docs/contract/protocol-b.md 3): frames name their context, an empty text keeps it
 * alive, and flags close a context or the socket. What is wrong with one context ends it alone, and a new context takes
 * the place of a closed one that still speaks. A first message that names no context has the defaults of all of them.
 */
import { isBlank } from '../../../../actors/text-buffer.js';
import type { SocketFault } from '../../../../actors/stream-input.js';
import { TEXT_FAILURES } from '../../../../contracts/errors.js';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { SpeechOptions } from '../../../../contracts/ports/speech/speech.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { Socket } from '../../../server/port.js';
import type { ProtocolBParts } from '../parts.js';
import type { SpeechClientFrame } from './client-frames.js';
import { type SpeechHandshake, SpeechConnection } from './connection.js';
import type { SpeechContext } from './context.js';
import { Contexts } from './contexts.js';
import { GAVE_WAY, LATE_SCHEDULE, LATE_SETTINGS, OVERFLOW, TOO_MANY_CONTEXTS } from './faults.js';
import { ContextFrames } from './server-frames.js';

/** The context of frames that name none. */
const UNNAMED = 'default';

/** HTTP status that stands for a context that had to give way. */
const TOO_MANY = 429;

/** HTTP status that stands for a frame that is refused. */
const REFUSED = 400;

/**
 * Whether the failure concerns only its own context: no capacity right now, a failed engine, more text than fits, or a
 * text that cannot be spoken.
 */
const isItsOwn = ({ error }: SocketFault, status: number): boolean =>
  status === 429 || status >= 500 || TEXT_FAILURES.has(error) || error === OVERFLOW.error;

/** What contexts speak with unless they say otherwise. */
type Defaults = Pick<SpeechClientFrame, 'voiceSettings' | 'schedule'>;

/** A context's own settings over the defaults, field by field. */
const settled = (own: unknown, usual: unknown): unknown =>
  isPlainObject(own) && isPlainObject(usual) ? { ...usual, ...own } : (own ?? usual);

export class MultiStreamInputSession {
  readonly connection: SpeechConnection;
  readonly #contexts = new Contexts();
  /** Undefined until the first message, keep-alives apart. */
  #defaults: Defaults | undefined;

  constructor(socket: Socket, handshake: SpeechHandshake, parts: ProtocolBParts) {
    this.connection = new SpeechConnection(socket, handshake, parts, {
      frame: (frame, caller) => this.#take(frame, caller),
      misread: (name, fault) => this.#mistake(name, fault),
      gone: () => this.#contexts.leaveAll(),
    });
  }

  #take(frame: SpeechClientFrame, caller: Caller): void {
    const name = frame.contextId ?? UNNAMED;
    const text = this.#begin(frame);
    const known = this.#contexts.find(name);
    if (known && !this.#agrees(name, known, frame)) return;
    // A keep-alive (empty text) opens no context.
    const context = known ?? (text ? this.#open(name, frame, caller) : undefined);
    context?.take(frame);
    if (frame.flags.has('close_socket')) this.#leave();
    else if (frame.flags.has('close_context')) this.#contexts.end(name);
  }

  /**
   * The text to speak. A first message without a context has the defaults of all contexts; if it has nothing to speak, it
   * opens none.
   */
  #begin({ contextId, text, voiceSettings, schedule }: SpeechClientFrame): string | undefined {
    if (this.#defaults || (!text && voiceSettings === undefined)) return text;
    if (contextId !== undefined) this.#defaults = { voiceSettings: undefined, schedule: [] };
    else if (this.connection.options(voiceSettings)) this.#defaults = { voiceSettings, schedule };
    return this.#defaults && (contextId !== undefined || !isBlank(text ?? '')) ? text : undefined;
  }

  /** All of a context's synthesis except its text; undefined if its settings are refused. */
  #options(name: string, { voiceSettings }: SpeechClientFrame): SpeechOptions | undefined {
    const settings = settled(voiceSettings, this.#defaults?.voiceSettings);
    return this.connection.options(settings, (fault) => this.#mistake(name, fault));
  }

  /** Whether the frame repeats the settings of its context, or has none; others are a mistake. */
  #agrees(name: string, context: SpeechContext, frame: SpeechClientFrame): boolean {
    if (!context.hasSchedule(frame.schedule)) return this.#isLate(name, LATE_SCHEDULE);
    if (frame.voiceSettings === undefined) return true;
    const options = this.#options(name, frame);
    if (!options) return false;
    return context.speaksWith(options) || this.#isLate(name, LATE_SETTINGS);
  }

  /** Its client sets what the context has otherwise. */
  #isLate(name: string, fault: SocketFault): false {
    this.#mistake(name, fault);
    return false;
  }

  /** Ends a context for what its client has sent, and says so; the other contexts speak on. */
  #mistake(name: string, fault: SocketFault): void {
    const context = this.#contexts.find(name);
    context?.leave();
    this.connection.failed(REFUSED);
    this.connection.socket.send(new ContextFrames(name).fault(fault));
    if (context) this.#over(name, context);
  }

  #open(name: string, frame: SpeechClientFrame, caller: Caller): SpeechContext | undefined {
    const options = this.#options(name, frame);
    if (!options) return undefined;
    if (this.#contexts.full) this.#contexts.oldestEnding?.refuse(GAVE_WAY, TOO_MANY);
    if (this.#contexts.full) return void this.connection.refuse(TOO_MANY_CONTEXTS);
    const frames = new ContextFrames(name);
    const over = (): void => this.#over(name, context);
    const own = frame.schedule.length > 0 ? frame.schedule : this.#defaults?.schedule;
    const context: SpeechContext = this.connection.open(
      { options, schedule: own ?? [] },
      caller,
      { frames, phrases: true },
      {
        idle: () => this.#contexts.end(name),
        finished: over,
        refused: (fault, status) => this.#refused(fault, status, frames, over),
      },
    );
    this.#contexts.add(name, context);
    return context;
  }

  #refused(fault: SocketFault, status: number, frames: ContextFrames, over: () => void): void {
    this.connection.failed(status);
    if (!isItsOwn(fault, status)) return this.connection.refuse(fault);
    this.connection.socket.send(frames.fault(fault));
    over();
  }

  #over(name: string, context: SpeechContext): void {
    this.#contexts.remove(name, context);
    if (this.#contexts.empty) this.connection.emptied();
  }

  #leave(): void {
    this.connection.leave();
    this.#contexts.endAll();
  }
}
