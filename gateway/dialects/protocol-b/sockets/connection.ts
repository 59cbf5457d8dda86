/**
 * The connection that both kinds of speech socket share: identifies the caller, reads frames, opens contexts, and ends as
 * the socket's machine decides (actors/stream-input-socket.ts). The socket tells it all that happens, and its session gets the
 * frames that take effect.
 *
 * Invariants: frames take effect in order, even if they arrive while the first is still being authenticated; a refusal
 * is one error frame, then the close.
 */
import { type Effects, run, type RunningMachine } from '../../../../actors/run.js';
import { FrameQueue, LongText, type SocketFrame } from '../../../server/frames/frame-queue.js';
import type { SocketFault } from '../../../../actors/stream-input.js';
import {
  speechSocket,
  type SpeechSocketEffect,
  type SpeechSocketEvent,
} from '../../../../actors/stream-input-socket.js';
import { ServiceError, toServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Permission } from '../../../../contracts/permissions.js';
import { memoryExhausted, type MemoryShare } from '../../../../contracts/ports/accounts/memory.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { SpeechOptions } from '../../../../contracts/ports/speech/speech.js';
import type { Socket, SocketEvents } from '../../../server/port.js';
import type { Observation } from '../../../server/tracing/trace-requests.js';
import type { ProtocolBParts } from '../parts.js';
import { type SpeechClientFrame, readFrame, SpeechFrameFault } from './client-frames.js';
import { type ContextEvents, type ContextPlan, SpeechContext } from './context.js';
import { faultOf, OVERFLOW, silence, TOO_LARGE } from './faults.js';
import { callerOfKey } from './identity.js';
import { ContextFrames } from './server-frames.js';
import type { SocketSettings } from './settings.js';

/** Most frames that may wait while the caller is authenticated. */
const MOST_WAITING = 1024;
const { bufferedTextBytes } = LIMITS.streamInput;
const OPEN = 101;
const REFUSED = 400;

/** Settings and caller of the handshake, and its observation, which ends with the socket. */
export interface SpeechHandshake {
  readonly settings: SocketSettings;
  /** Undefined if the first message has to identify the caller. */
  readonly caller: Caller | undefined;
  /** Permission that the key must have. */
  readonly permission: Permission;
  readonly generationId: string;
  readonly observation: Observation;
}

export interface ConnectionEvents {
  /** A frame takes effect. */
  frame(frame: SpeechClientFrame, caller: Caller): void;
  /** A frame that names this context is invalid. Without a handler it is the socket's fault. */
  misread?(contextId: string, fault: SocketFault): void;
  /** The client has left, or the socket is being closed. */
  gone(): void;
}

interface Received {
  readonly frame: SpeechClientFrame;
  readonly length: number;
}

/** The part of a context's plan that depends on the kind of socket. */
export type ContextForm = Pick<ContextPlan, 'frames' | 'phrases'>;

export class SpeechConnection implements SocketEvents {
  readonly #machine: RunningMachine<SpeechSocketEvent>;
  #caller: Caller | undefined;
  #identifying = false;
  /** Whether the machine lets frames take effect. */
  #takesFrames = false;
  readonly #waiting: Received[] = [];
  #waitingLength = 0;
  /** Of the frames that wait for the caller. */
  readonly #memory: MemoryShare;
  readonly #frames: FrameQueue<Received>;
  /** HTTP status that is reported for the socket when it closes. */
  #status = OPEN;

  constructor(
    readonly socket: Socket,
    private readonly handshake: SpeechHandshake,
    private readonly parts: ProtocolBParts,
    private readonly events: ConnectionEvents,
  ) {
    this.#memory = socket.memory('frame');
    this.#frames = new FrameQueue(socket, {
      read: (frame) => this.#read(frame),
      take: ({ frame, length }) => void this.#received(frame, length),
      failed: (error) => this.#unreadable(error),
      full: () => this.refuse(OVERFLOW),
      exhausted: () => this.#refuseFor(memoryExhausted()),
    });
    const { inactivityMs } = handshake.settings;
    const input = { inactivityMs, silence: silence(inactivityMs) };
    this.#machine = run(speechSocket, input, parts.clock, this.#effects);
    if (handshake.caller) this.#identified(handshake.caller);
  }

  message(data: string | Uint8Array): void {
    this.#frames.push(data);
  }

  longText(bytes: Buffer): void {
    this.#frames.push(new LongText(bytes));
  }

  tooBig(): void {
    this.refuse(TOO_LARGE);
  }

  mustEnd(error: ServiceError): void {
    this.#refuseFor(error);
  }

  gone(): void {
    this.#machine.send({ type: 'gone' });
    this.#waiting.length = 0;
    this.#frames.clear();
    this.events.gone();
  }

  closed(): void {
    this.handshake.observation.end(this.#status);
  }

  open(
    { options, schedule }: Pick<ContextPlan, 'options' | 'schedule'>,
    caller: Caller,
    form: ContextForm,
    events: ContextEvents,
  ): SpeechContext {
    const { settings, generationId, observation: trace } = this.handshake;
    const plan = { caller, generationId, options, schedule, settings, trace, ...form };
    const context = new SpeechContext(plan, this.socket, this.parts, events);
    this.#machine.send({ type: 'opened' });
    return context;
  }

  /** All of a synthesis except its text; undefined if the settings are refused, which `refused` answers, or ends the socket. */
  options(voiceSettings: unknown, refused?: (fault: SocketFault) => void): SpeechOptions | undefined {
    try {
      return this.handshake.settings.options(voiceSettings);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return refused ? void refused(faultOf(error)) : this.#refuseFor(error);
    }
  }

  /** Reports that the last live context has ended. */
  emptied(): void {
    this.#machine.send({ type: 'emptied' });
  }

  /** Ignores all further frames and closes the socket once its contexts have ended. */
  leave(): void {
    this.#machine.send({ type: 'leave' });
  }

  /** Records the status of a failed synthesis, which is then reported for the socket. */
  failed(status: number): void {
    this.#status = status;
  }

  /** Sends the fault, then closes. */
  refuse(fault: SocketFault): void {
    if (this.#status === OPEN) this.#status = REFUSED;
    this.#machine.send({ type: 'fault', fault });
  }

  #read(frame: SocketFrame): Received | Promise<Received> {
    const { length } = frame;
    const read = readFrame(frame, this.parts.vocabulary, !this.#caller);
    return read instanceof Promise
      ? read.then((later) => ({ frame: later, length }))
      : { frame: read, length };
  }

  #unreadable(error: unknown): void {
    if (!(error instanceof SpeechFrameFault)) throw error;
    const { fault, contextId } = error;
    if (contextId === undefined || !this.events.misread || !this.#takesFrames) return this.refuse(fault);
    this.#machine.send({ type: 'message' });
    this.events.misread(contextId, fault);
  }

  #received(frame: SpeechClientFrame, length: number): void {
    this.#machine.send({ type: 'message' });
    if (this.#caller) return this.#take(frame, this.#caller);
    if (!this.#memory.charge(length)) return void this.#refuseFor(memoryExhausted());
    this.#waiting.push({ frame, length });
    this.#waitingLength += length;
    if (this.#waitingLength > bufferedTextBytes || this.#waiting.length > MOST_WAITING) this.refuse(OVERFLOW);
    else if (!this.#identifying) void this.#identify(frame.key);
  }

  #take(frame: SpeechClientFrame, caller: Caller): void {
    if (this.#takesFrames) this.events.frame(frame, caller);
  }

  async #identify(key: string | undefined): Promise<void> {
    this.#identifying = true;
    try {
      this.#identified(await callerOfKey(key, this.handshake, this.parts));
    } catch (error) {
      this.#refuseFor(toServiceError(error));
    }
  }

  #identified(caller: Caller): void {
    this.#caller = caller;
    this.socket.authenticated();
    this.socket.chargeTo(caller.workspaceId);
    this.handshake.observation.caller(caller);
    this.#machine.send({ type: 'identified' });
    for (const { frame, length } of this.#waiting.splice(0)) {
      this.#memory.release(length);
      this.#take(frame, caller);
    }
  }

  #refuseFor(error: ServiceError): undefined {
    this.#status = error.status;
    this.handshake.observation.refused(error);
    this.refuse(faultOf(error));
  }

  readonly #effects: Effects<SpeechSocketEffect> = {
    takeFrames: () => (this.#takesFrames = true),
    dropFrames: () => (this.#takesFrames = false),
    refuse: ({ fault }) => this.socket.send(new ContextFrames(undefined).fault(fault)),
    close: ({ fault }) => closeSocket(this.socket, fault),
  };
}

export function closeSocket(socket: Socket, fault: SocketFault | undefined): void {
  socket.close(fault ? { code: fault.code, reason: fault.message } : 'normal');
}
