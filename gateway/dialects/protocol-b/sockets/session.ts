/**
 * The host of one speech socket: finds out who calls, reads frames, and does what the socket's actor decides
 * (actors/stream-input-socket.ts). Its contexts are hosts of their own (context.ts).
 *
 * Invariants: frames take effect in their order, also while the first of them is still being authenticated; a
 * refusal is one error frame and the close, and with the socket all contexts are left.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Actor, createActor } from 'xstate';
import { actorClock } from '../../../../actors/clock.js';
import type { SocketFault } from '../../../../actors/stream-input.js';
import { type SpeechSocketEffect, speechSocket } from '../../../../actors/stream-input-socket.js';
import { ServiceError, toServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Caller } from '../../../../contracts/ports/identity.js';
import type { SpeechOptions } from '../../../../contracts/ports/speech.js';
import type { Socket, SocketEvents } from '../../../server/port.js';
import type { Observation } from '../../../server/trace-requests.js';
import type { ProtocolBParts } from '../parts.js';
import { type ClientFrame, FrameFault, readFrame } from './client-frames.js';
import { SpeechContext } from './context.js';
import { Contexts } from './contexts.js';
import { faultOf, OVERFLOW, silence, TOO_MANY_CONTEXTS } from './faults.js';
import { callerOfKey } from './identity.js';
import type { Manner, SocketHands } from './manners.js';
import { ContextFrames } from './server-frames.js';
import type { SocketSettings } from './settings.js';

/** Frames that may wait while their sender is authenticated. */
const MOST_WAITING = 1024;
const { bufferedTextBytes } = LIMITS.streamInput;
const OPEN = 101;
const REFUSED = 400;

/** What the handshake says; with its observation, which ends with the socket. */
export interface Handshake {
  readonly settings: SocketSettings;
  /** Undefined until the first message says it. */
  readonly caller: Caller | undefined;
  readonly generationId: string;
  readonly observation: Observation;
}

export class SpeechSession implements SocketEvents, SocketHands {
  readonly #actor: Actor<typeof speechSocket>;
  readonly #contexts = new Contexts();
  #caller: Caller | undefined;
  #identifying = false;
  readonly #waiting: ClientFrame[] = [];
  #waitingLength = 0;
  /** HTTP status that the socket's end is worth. */
  #status = OPEN;

  constructor(
    private readonly socket: Socket,
    private readonly plan: Handshake,
    private readonly manner: Manner,
    private readonly parts: ProtocolBParts,
  ) {
    const { inactivityMs } = plan.settings;
    const input = { inactivityMs, silence: silence(inactivityMs) };
    this.#actor = createActor(speechSocket, { input, clock: actorClock(parts.clock) });
    this.#actor.on('*', (effect) => this.#perform(effect));
    this.#actor.start();
    socket.signal.addEventListener('abort', () => this.#gone(), { once: true });
    if (plan.caller) this.#identified(plan.caller);
  }

  message(data: string | Uint8Array): void {
    try {
      this.#receive(readFrame(data, this.parts.vocabulary), data.length);
    } catch (error) {
      if (!(error instanceof FrameFault)) throw error;
      this.refuse(error.fault);
    }
  }

  closed(): void {
    this.#gone();
    this.plan.observation.end(this.#status);
  }

  find(name: string): SpeechContext | undefined {
    return this.#contexts.find(name);
  }

  open(name: string, frame: ClientFrame): SpeechContext | undefined {
    if (this.#contexts.full) return void this.refuse(TOO_MANY_CONTEXTS);
    const options = this.#options(frame.voiceSettings);
    if (!options || !this.#caller) return undefined;
    const { settings, generationId, observation: trace } = this.plan;
    const { phrases } = this.manner;
    const frames = new ContextFrames(this.manner.contextId(name));
    const { schedule } = frame;
    const plan = { caller: this.#caller, generationId, options, schedule, settings, frames, phrases, trace };
    const context: SpeechContext = new SpeechContext(plan, this.socket, this.parts, {
      idle: () => this.manner.idle(name, this, silence(settings.inactivityMs)),
      finished: () => this.#over(name, context),
      refused: (fault, status) => {
        this.#status = status;
        if (!this.manner.apart || !isItsOwn(status)) return this.refuse(fault);
        this.socket.send(frames.fault(fault));
        this.#over(name, context);
      },
    });
    this.#contexts.add(name, context);
    this.#actor.send({ type: 'opened' });
    return context;
  }

  differs({ voiceSettings }: ClientFrame, { options }: SpeechContext): boolean {
    if (voiceSettings === undefined) return false;
    const wanted = this.#options(voiceSettings);
    return wanted !== undefined && !isDeepStrictEqual(wanted, options);
  }

  end(name: string): void {
    this.#contexts.end(name);
  }

  leave(): void {
    this.#actor.send({ type: 'leave' });
    this.#contexts.endAll();
  }

  refuse(fault: SocketFault): void {
    if (this.#status === OPEN) this.#status = REFUSED;
    this.#actor.send({ type: 'fault', fault });
  }

  #receive(frame: ClientFrame, length: number): void {
    this.#actor.send({ type: 'heard' });
    if (this.#caller) return this.#take(frame);
    this.#waiting.push(frame);
    this.#waitingLength += length;
    if (this.#waitingLength > bufferedTextBytes || this.#waiting.length > MOST_WAITING) this.refuse(OVERFLOW);
    else if (!this.#identifying) void this.#identify(frame.key);
  }

  #take(frame: ClientFrame): void {
    if (this.#takes) this.manner.take(frame, this);
  }

  get #takes(): boolean {
    const state = this.#actor.getSnapshot();
    return state.matches('empty') || state.matches('occupied');
  }

  async #identify(key: string | undefined): Promise<void> {
    this.#identifying = true;
    try {
      this.#identified(await callerOfKey(key, this.parts));
    } catch (error) {
      this.#refuseFor(toServiceError(error));
    }
  }

  #identified(caller: Caller): void {
    this.#caller = caller;
    this.#actor.send({ type: 'identified' });
    for (const frame of this.#waiting.splice(0)) this.#take(frame);
  }

  #options(voiceSettings: unknown): SpeechOptions | undefined {
    try {
      return this.plan.settings.options(voiceSettings);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return this.#refuseFor(error);
    }
  }

  #refuseFor(error: ServiceError): undefined {
    this.#status = error.status;
    this.refuse(faultOf(error));
  }

  #over(name: string, context: SpeechContext): void {
    this.#contexts.remove(name, context);
    this.#actor.send({ type: 'ended' });
  }

  #gone(): void {
    this.#actor.send({ type: 'gone' });
    this.#contexts.leaveAll();
  }

  #perform(effect: SpeechSocketEffect): void {
    if (effect.type === 'close') closeSocket(this.socket, effect.fault);
    else this.socket.send(new ContextFrames(undefined).fault(effect.fault));
  }
}

/** Whether the failure says nothing of the other contexts: no room just now, or an engine that failed. */
const isItsOwn = (status: number): boolean => status === 429 || status >= 500;

export function closeSocket(socket: Socket, fault: SocketFault | undefined): void {
  socket.close(fault ? { code: fault.code, reason: fault.message } : 'normal');
}
