/**
 * The host of one live socket: performs the effects of its statechart (actors/native-live.ts).
 *
 * Invariants: text goes straight into the feed of the running job and its audio straight to the socket, both
 * bypassing the statechart; no audio of a cancelled job is sent; a job is read only while the client reads, so
 * that a slow client delays only its own synthesis; waiting text is charged until it is spoken.
 */
import { type LiveEffect, type LiveEvent, nativeLive } from '../../../actors/native-live.js';
import { type Effects, runOnDemand, type RunningMachine } from '../../../actors/run.js';
import { TextFeed } from '../../../actors/text-feed.js';
import { endingFor } from '../../../contracts/close-codes.js';
import type { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SynthesisModel } from '../../../contracts/speech/models.js';
import { memoryExhausted, MeteredMemory } from '../../../contracts/ports/accounts/memory.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { RequestTrace } from '../../../contracts/ports/trace.js';
import type { SynthesisRequest } from '../../../contracts/ports/speech/speech.js';
import { FrameQueue } from '../../server/frames/frame-queue.js';
import type { Socket, SocketEvents } from '../../server/port.js';
import { IgnoredOnce, warnOfIgnored } from '../../server/ignored-fields.js';
import { nativeMessage } from '../../server/native-error.js';
import type { LiveAudio } from './live-audio.js';
import { type LiveClientFrame, LiveFrameFault, finishFrame, readFrame } from './live-frames.js';
import type { NativeParts } from './parts.js';

const SWITCHING_PROTOCOLS = 101;
const FAILED = 500;
const TOO_MUCH_TEXT = { message: 'Too much text waits to be spoken', close: 'policy' } as const;

interface Job {
  readonly number: number;
  readonly feed: TextFeed;
  readonly abort: AbortController;
}

export interface LiveClient {
  readonly caller: Caller;
  readonly model: SynthesisModel;
  readonly audio: LiveAudio;
  readonly generationId: string;
  readonly trace: RequestTrace;
}

export class LiveSession implements SocketEvents {
  readonly #machine: RunningMachine<LiveEvent>;
  #job: Job | undefined;
  /** The job's feed while it accepts text and flushes: from `begin` until the job or its text ends. */
  #openFeed: TextFeed | undefined;
  #since: number;
  /** Of the waiting text. */
  readonly #memory: MeteredMemory;
  readonly #frames: FrameQueue<LiveClientFrame>;
  readonly #ignored = new IgnoredOnce();
  /** HTTP status that is reported for the socket when it closes. */
  /** With which it ends. */
  #error: ServiceError | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly client: LiveClient,
    private readonly parts: NativeParts,
    private readonly ended: (status: number, error?: ServiceError) => void,
  ) {
    socket.chargeTo(client.caller.workspaceId);
    this.#memory = new MeteredMemory(socket.memory('text'));
    this.#frames = new FrameQueue(socket, {
      read: (frame) => readFrame(frame, client.model),
      take: (frame) => void this.#take(frame),
      failed: (error) => this.#unreadable(error),
      full: () => this.#machine.send({ type: 'fault', ...TOO_MUCH_TEXT }),
      exhausted: () => this.mustEnd(memoryExhausted()),
    });
    this.#since = parts.clock.monotonic();
    this.#machine = runOnDemand(nativeLive, undefined, parts.clock, () => this.#effects(), 'gone');
  }

  message(data: string | Uint8Array): void {
    this.#frames.push(data);
  }

  mustEnd(error: ServiceError): void {
    this.#error = error;
    this.#machine.send({ type: 'fault', message: nativeMessage(error), close: endingFor(error.code) });
  }

  gone(): void {
    this.#frames.clear();
    this.#machine.send({ type: 'gone' });
  }

  closed(): void {
    this.ended(this.#error?.status ?? SWITCHING_PROTOCOLS, this.#error);
  }

  #unreadable(error: unknown): void {
    if (!(error instanceof LiveFrameFault)) throw error;
    this.#machine.send({ type: 'fault', message: error.message, close: error.close });
  }

  #take({ event, ignored }: LiveClientFrame): void {
    warnOfIgnored(this.#ignored.fresh(ignored), this.client.generationId, this.parts.log);
    const feed = this.#openFeed;
    if (event.type === 'text' && feed) this.#feed(feed, event.text);
    else if (event.type === 'flush' && feed) feed.flush();
    else this.#machine.send(event);
  }

  #feed(feed: TextFeed, text: string): void {
    if (!feed.add(text)) this.#machine.send({ type: 'fault', ...TOO_MUCH_TEXT });
    else if (!this.#memory.set(feed.memory)) this.mustEnd(memoryExhausted());
  }

  #effects(): Effects<LiveEffect> {
    return {
      begin: ({ job, request }) => this.#begin(job, request),
      endText: () => this.#endText(),
      cancel: () => this.#cancel(),
      finish: (effect) => {
        this.#openFeed = undefined;
        const message = effect.reason === 'error' ? effect.message : undefined;
        const failure = message === undefined ? undefined : this.client.audio.failure?.(message);
        if (failure) this.socket.send(failure);
        this.socket.send(finishFrame(effect.reason, this.#elapsed, message));
      },
      close: ({ reason }) => this.socket.close(reason),
    };
  }

  #begin(number: number, request: SynthesisRequest): void {
    this.#since = this.parts.clock.monotonic();
    const feed = new TextFeed(
      LIMITS.native.liveTextBytes,
      () => void this.#memory.set(this.#job?.feed.memory ?? 0),
    );
    const job = { number, feed, abort: new AbortController() };
    this.#job = job;
    this.#openFeed = job.feed;
    this.#feed(job.feed, request.text);
    void this.#run(job, request);
  }

  #endText(): void {
    this.#openFeed = undefined;
    this.#job?.feed.end();
  }

  #cancel(): void {
    this.#job?.abort.abort(new DOMException('The synthesis was cancelled', 'AbortError'));
    this.#endText();
  }

  async #run({ number, feed, abort }: Job, request: SynthesisRequest): Promise<void> {
    const { signal } = abort;
    const { caller, trace, audio } = this.client;
    const spoken = { request: { ...request, text: feed, trace }, caller, signal };
    const carried = await audio.carry(this.parts.speech, spoken, this.socket, () => this.#elapsed);
    if (carried.end === 'done') this.#machine.send({ type: 'done', job: number });
    if (carried.end === 'failed') this.#failed(number, carried.error);
  }

  #failed(job: number, error: ServiceError): void {
    const { status, code, cause } = error;
    const message = nativeMessage(error);
    const { generationId } = this.client;
    this.#error = error;
    if (status >= FAILED) this.parts.log.warn({ generationId, code, err: cause }, 'a live synthesis failed');
    this.#machine.send({ type: 'failed', job, message, close: status >= FAILED ? 'internal' : 'policy' });
  }

  get #elapsed(): number {
    return Math.round(this.parts.clock.monotonic() - this.#since);
  }
}
