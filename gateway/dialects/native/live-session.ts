/**
 * The host of one `/v1/tts/live` socket: performs what its actor decides (actors/native-live.ts).
 *
 * Invariants: text goes into the feed of the job that runs, audio out of it to the socket, both past the actor;
 * no audio of a cancelled job leaves; a job is pulled only while the client reads, so that one that does not
 * holds back nothing but its own synthesis.
 */
import { type Actor, createActor } from 'xstate';
import { actorClock } from '../../../actors/clock.js';
import { type LiveEffect, nativeLive } from '../../../actors/native-live.js';
import { TextFeed } from '../../../actors/text-feed.js';
import type { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SynthesisModel } from '../../../contracts/models.js';
import type { Caller } from '../../../contracts/ports/identity.js';
import type { RequestTrace } from '../../../contracts/ports/trace.js';
import type { SynthesisRequest } from '../../../contracts/ports/speech.js';
import type { Socket, SocketEvents } from '../../server/port.js';
import { pump } from '../../server/pump.js';
import { audioFrame, type ClientEvent, FrameFault, finishFrame, readFrame } from './live-frames.js';
import type { NativeParts } from './routes.js';

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
  readonly generationId: string;
  readonly trace: RequestTrace;
}

type Effects = {
  readonly [Type in LiveEffect['type']]: (effect: Extract<LiveEffect, { readonly type: Type }>) => void;
};

export class LiveSession implements SocketEvents {
  readonly #actor: Actor<typeof nativeLive>;
  #job: Job | undefined;
  #since: number;
  /** HTTP status that the socket's end is worth. */
  #status = 101;

  constructor(
    private readonly socket: Socket,
    private readonly client: LiveClient,
    private readonly parts: NativeParts,
    private readonly ended: (status: number) => void,
  ) {
    this.#since = parts.clock.monotonic();
    this.#actor = createActor(nativeLive, { clock: actorClock(parts.clock) });
    this.#actor.on('*', (effect) => this.#perform(effect));
    this.#actor.start();
    socket.signal.addEventListener('abort', () => this.#actor.send({ type: 'gone' }), { once: true });
  }

  message(data: string | Uint8Array): void {
    try {
      this.#take(readFrame(data, this.client.model));
    } catch (error) {
      if (!(error instanceof FrameFault)) throw error;
      this.#actor.send({ type: 'fault', message: error.message, close: error.close });
    }
  }

  closed(): void {
    this.#actor.send({ type: 'gone' });
    this.ended(this.#status);
  }

  #take(event: ClientEvent): void {
    const feed = this.#openFeed;
    if (event.type === 'text' && feed) this.#feed(feed, event.text);
    else if (event.type === 'flush' && feed) feed.flush();
    else this.#actor.send(event);
  }

  get #openFeed(): TextFeed | undefined {
    return this.#actor.getSnapshot().matches({ running: 'open' }) ? this.#job?.feed : undefined;
  }

  #feed(feed: TextFeed, text: string): void {
    if (!feed.add(text)) this.#actor.send({ type: 'fault', ...TOO_MUCH_TEXT });
  }

  #perform(effect: LiveEffect): void {
    (this.#effects[effect.type] as (effect: LiveEffect) => void)(effect);
  }

  readonly #effects: Effects = {
    begin: ({ job, request }) => this.#begin(job, request),
    endText: () => this.#job?.feed.end(),
    cancel: () => this.#cancel(),
    finish: (effect) => {
      const message = effect.reason === 'error' ? effect.message : undefined;
      this.socket.send(finishFrame(effect.reason, this.#elapsed, message));
    },
    close: ({ reason }) => this.socket.close(reason),
  };

  #begin(number: number, request: SynthesisRequest): void {
    this.#since = this.parts.clock.monotonic();
    const job = { number, feed: new TextFeed(LIMITS.native.liveTextBytes), abort: new AbortController() };
    this.#job = job;
    this.#feed(job.feed, request.text);
    void this.#run(job, request);
  }

  #cancel(): void {
    this.#job?.abort.abort(new DOMException('The synthesis was cancelled', 'AbortError'));
    this.#job?.feed.end();
  }

  async #run({ number, feed, abort }: Job, request: SynthesisRequest): Promise<void> {
    const { signal } = abort;
    const { caller, trace } = this.client;
    const speech = this.parts.speech.synthesize({ ...request, text: feed, trace }, caller, signal);
    const carried = await pump(speech, this.socket, signal, (audio) =>
      this.socket.send(audioFrame(audio, this.#elapsed)),
    );
    if (carried.end === 'done') this.#actor.send({ type: 'done', job: number });
    if (carried.end === 'failed') this.#failed(number, carried.error);
  }

  #failed(job: number, { status, code, message, cause }: ServiceError): void {
    const { generationId } = this.client;
    this.#status = status;
    if (status >= FAILED) this.parts.log.warn({ generationId, code, err: cause }, 'a live synthesis failed');
    this.#actor.send({ type: 'failed', job, message, close: status >= FAILED ? 'internal' : 'policy' });
  }

  get #elapsed(): number {
    return Math.round(this.parts.clock.monotonic() - this.#since);
  }
}
