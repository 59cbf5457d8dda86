/**
 * The host of one context (actors/stream-input.ts): puts text into its buffer, generations from there into the feed
 * of its only job, and sends the job's audio to the socket.
 *
 * Invariants: each generation is flushed, so that all of it is spoken without waiting for more text; no frame is
 * sent once the context has ended or was left; text in buffer and feed together never exceeds the budget, and is charged
 * until it is spoken or the context has ended.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Effects, run, type RunningMachine } from '../../../../actors/run.js';
import {
  type SocketFault,
  streamInput,
  type StreamInputEffect,
  type StreamInputEvent,
} from '../../../../actors/stream-input.js';
import { isBlank, TextBuffer } from '../../../../actors/text-buffer.js';
import { TextFeed } from '../../../../actors/text-feed.js';
import type { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { memoryExhausted, MeteredMemory } from '../../../../contracts/ports/accounts/memory.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { SpeechOptions } from '../../../../contracts/ports/speech/speech.js';
import type { RequestTrace } from '../../../../contracts/ports/trace.js';
import type { Socket } from '../../../server/port.js';
import { pump } from '../../../server/pump.js';
import type { ProtocolBParts } from '../parts.js';
import { AudioFrames } from './audio-frames.js';
import type { SpeechClientFrame } from './client-frames.js';
import { faultOf, OVERFLOW } from './faults.js';
import { frameStream } from './frame-stream.js';
import type { ContextFrames } from './server-frames.js';
import type { SocketSettings } from './settings.js';

const { bufferedTextBytes, schedule: usualSchedule } = LIMITS.streamInput;
const REFUSED = 400;
const FAILED = 500;

export interface ContextPlan {
  readonly caller: Caller;
  readonly generationId: string;
  readonly trace: RequestTrace;
  readonly options: SpeechOptions;
  /** Empty for the default. */
  readonly schedule: readonly number[];
  readonly settings: SocketSettings;
  readonly frames: ContextFrames;
  /**
   * Whether each generation is a separate phrase: a blank is added after it, since clients join the characters of all
   * generations unchanged.
   */
  readonly phrases: boolean;
}

/** Events of a context that its session reacts to. */
export interface ContextEvents {
  idle(): void;
  /** All of its text was spoken, and its frames are queued. */
  finished(): void;
  /** `status`: an HTTP status. */
  refused(fault: SocketFault, status: number): void;
}

type Parts = Pick<ProtocolBParts, 'speech' | 'clock' | 'log'>;

export class SpeechContext {
  readonly #machine: RunningMachine<StreamInputEvent>;
  readonly #buffer: TextBuffer;
  readonly #feed = new TextFeed(bufferedTextBytes, () => void this.#charge());
  readonly #memory: MeteredMemory;
  #over = false;
  readonly #frames: AudioFrames;
  readonly #abort = new AbortController();
  #status = REFUSED;

  constructor(
    private readonly plan: ContextPlan,
    private readonly socket: Pick<Socket, 'send' | 'drained' | 'memory'>,
    private readonly parts: Parts,
    private readonly events: ContextEvents,
  ) {
    const { schedule, settings, frames } = plan;
    this.#buffer = new TextBuffer(schedule.length > 0 ? schedule : usualSchedule.default);
    this.#frames = new AudioFrames(frames, settings.sync);
    this.#memory = new MeteredMemory(socket.memory('text'));
    this.#machine = run(streamInput, settings, parts.clock, this.#effects);
  }

  /** Whether it speaks with these options. Clients repeat the settings of their first frame, which changes nothing. */
  speaksWith(options: SpeechOptions): boolean {
    return isDeepStrictEqual(options, this.plan.options);
  }

  /** Whether it is spoken by that schedule; empty: none was asked for. */
  hasSchedule(schedule: readonly number[]): boolean {
    return schedule.length === 0 || isDeepStrictEqual(schedule, this.plan.schedule);
  }

  /** Adds text; flags say whether it is to be spoken now. */
  take({ text = '', flags }: Pick<SpeechClientFrame, 'text' | 'flags'>): void {
    this.#machine.send({ type: 'message' });
    if (!this.#add(text)) return this.refuse(OVERFLOW);
    if (!this.#charge()) return this.#failed(memoryExhausted());
    if (flags.has('flush') || (this.plan.settings.auto && !isBlank(text))) this.#speak(this.#buffer.rest());
    else if (flags.has('try_trigger_generation')) this.#speak(this.#buffer.ripe());
    for (let due = this.#buffer.due(); due !== undefined; due = this.#buffer.due()) this.#speak(due);
    if (flags.has('flush')) this.#machine.send({ type: 'speak', fed: false });
  }

  /** Accepts no more text; speaks what is buffered, then ends. Idempotent. */
  end(): void {
    this.#speak(this.#buffer.rest());
    this.#machine.send({ type: 'end' });
  }

  /** Stops at once, since nobody wants to hear the rest; the final frame is sent. Idempotent. */
  stop(): void {
    this.#machine.send({ type: 'stop' });
  }

  /** Stops at once, since the socket is closing. Idempotent. */
  leave(): void {
    this.#machine.send({ type: 'gone' });
    this.#letGo();
  }

  /** Stops at once, and tells the client why. `status`: an HTTP status. */
  refuse(fault: SocketFault, status = REFUSED): void {
    this.#status = status;
    this.#machine.send({ type: 'failed', fault });
  }

  /** False if the text exceeds the budget. */
  #add(text: string): boolean {
    const bytes = this.#buffer.bytes + this.#feed.memory + Buffer.byteLength(text);
    if (bytes > bufferedTextBytes) return false;
    this.#buffer.add(text);
    return true;
  }

  /** Charges the text that waits now. False if there is no memory for it. */
  #charge(): boolean {
    return this.#memory.set(this.#over ? 0 : this.#buffer.bytes + this.#feed.memory);
  }

  #letGo(): void {
    this.#over = true;
    this.#charge();
  }

  #speak(text: string | undefined): void {
    if (text === undefined) return;
    const spoken = this.plan.phrases && !/\s$/u.test(text) ? `${text} ` : text;
    if (!this.#feed.add(spoken)) return this.refuse(OVERFLOW);
    this.#feed.flush();
    this.#frames.add(spoken);
    this.#machine.send({ type: 'speak', fed: true });
  }

  readonly #effects: Effects<StreamInputEffect> = {
    begin: () => void this.#run(),
    endText: () => this.#feed.end(),
    cancel: () => {
      this.#abort.abort(new DOMException('The synthesis was cancelled', 'AbortError'));
      this.#feed.end();
    },
    idle: () => this.events.idle(),
    finish: () => {
      this.#letGo();
      this.socket.send(this.plan.frames.final());
      this.events.finished();
    },
    refuse: ({ fault }) => {
      this.#letGo();
      this.events.refused(fault, this.#status);
    },
  };

  async #run(): Promise<void> {
    const { options, caller, trace } = this.plan;
    const { signal } = this.#abort;
    const request = { ...options, text: this.#feed, trace };
    const audio = this.parts.speech.synthesizeTimed(request, caller, signal);
    const frames = frameStream(audio, this.#frames, this.parts.clock);
    const carried = await pump(frames, this.socket, signal, (frame) => this.socket.send(frame));
    if (carried.end === 'done') this.#machine.send({ type: 'done' });
    if (carried.end === 'failed') this.#failed(carried.error);
  }

  #failed(error: ServiceError): void {
    const { status, code, cause } = error;
    const { generationId } = this.plan;
    if (status >= FAILED) this.parts.log.warn({ generationId, code, err: cause }, 'a live synthesis failed');
    this.refuse(faultOf(error), status);
  }
}
