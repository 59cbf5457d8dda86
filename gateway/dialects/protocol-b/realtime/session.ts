/**
 * The host of one realtime transcription socket: performs what its actor decides
 * (actors/transcription-session.ts).
 *
 * Invariants: audio goes into the buffer past the actor; a commit takes it out before its event is sent; audio
 * that waits, committed or not, shares one budget and is let go of when its transcription ends; nothing is heard
 * of a job that was cancelled.
 */
import { type Actor, createActor } from 'xstate';
import { actorClock } from '../../../../actors/clock.js';
import { InputAudio, type TakenAudio } from '../../../../actors/realtime-audio.js';
import {
  type CommittedAudio,
  type SessionEffect,
  type SessionFault,
  transcriptionSession,
} from '../../../../actors/transcription-session.js';
import { BYTES_PER_SAMPLE } from '../../../../contracts/audio.js';
import { type ServiceError, toServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Caller } from '../../../../contracts/ports/identity.js';
import type { TranscriptSegment } from '../../../../contracts/ports/speech.js';
import type { Socket, SocketEvents } from '../../../server/port.js';
import type { Observation } from '../../../server/trace-requests.js';
import type { ProtocolBParts } from '../parts.js';
import { type ClientFrame, FrameFault, readFrame } from './client-frames.js';
import { BUFFER_FULL, faultOf, inputFault, throttled, TOO_MANY_COMMITS } from './errors.js';
import { hintOf, type SessionOptions } from './options.js';
import { committedFrames, errorFrame, partialFrame, startedFrame } from './server-frames.js';
import { Tail } from './tail.js';

const { bufferedAudioBytes, commitMs, pendingCommits } = LIMITS.realtimeTranscription;

const OPEN = 101;
const REFUSED = 400;
const FAILED = 500;

const NOT_BASE64 = inputFault('audio_base_64 is not base64');
const LATE_PREVIOUS_TEXT = inputFault('previous_text may only be sent with the first chunk');

export type SessionParts = Pick<ProtocolBParts, 'transcription' | 'vocabulary' | 'clock' | 'log'>;

export interface SessionClient {
  readonly caller: Caller;
  readonly options: SessionOptions;
  readonly generationId: string;
  /** Why every commit is refused, where it is (spec rule 6). */
  readonly refused: SessionFault | undefined;
  /** Ends with the socket. */
  readonly observation: Observation;
}

type Effects = {
  readonly [Type in SessionEffect['type']]: (effect: Extract<SessionEffect, { readonly type: Type }>) => void;
};

const sizeOf = (audio: CommittedAudio): number => audio.reduce((sum, { byteLength }) => sum + byteLength, 0);

export class TranscriptionSession implements SocketEvents {
  readonly #actor: Actor<typeof transcriptionSession>;
  readonly #audio = new InputAudio();
  readonly #tail: Tail;
  /** Bytes of commits that are not answered yet. */
  #committedBytes = 0;
  #job = new AbortController();
  #lastPartial = '';
  #begun = false;
  /** HTTP status that the socket's end is worth. */
  #status = OPEN;

  constructor(
    private readonly socket: Socket,
    private readonly client: SessionClient,
    private readonly parts: SessionParts,
  ) {
    this.#tail = new Tail(client.options.sampleRate);
    this.#actor = createActor(transcriptionSession, { clock: actorClock(parts.clock) });
    this.#actor.on('*', (effect) => this.#perform(effect));
    this.#actor.start();
    socket.signal.addEventListener('abort', () => this.#actor.send({ type: 'gone' }), { once: true });
    socket.send(startedFrame(client.generationId, client.options, parts.vocabulary));
  }

  message(data: string | Uint8Array): void {
    try {
      this.#take(readFrame(data, this.client.options.sampleRate));
    } catch (error) {
      if (!(error instanceof FrameFault)) throw error;
      if (error.fault.close) this.#status = REFUSED;
      this.#actor.send({ type: 'fault', fault: error.fault });
    }
  }

  closed(): void {
    this.#actor.send({ type: 'gone' });
    this.client.observation.end(this.#status);
  }

  #take({ audio, commit, hasPreviousText }: ClientFrame): void {
    if (hasPreviousText && this.#begun) throw new FrameFault(LATE_PREVIOUS_TEXT);
    const appended = this.#audio.append(audio, bufferedAudioBytes - this.#committedBytes);
    if (appended === 'malformed') throw new FrameFault(NOT_BASE64);
    if (appended === 'full') this.#actor.send({ type: 'fault', fault: BUFFER_FULL });
    this.#begun = true;
    if (commit) this.#commit();
    else this.#guessWhenDue();
  }

  #commit(): void {
    const { refused, options } = this.client;
    if (this.#actor.getSnapshot().context.waiting.length >= pendingCommits)
      return this.#actor.send({ type: 'fault', fault: TOO_MANY_COMMITS });
    const seconds = this.#audio.bytes / BYTES_PER_SAMPLE / options.sampleRate;
    if (!refused && seconds * 1000 < commitMs)
      return this.#actor.send({ type: 'refusal', fault: throttled(seconds) });
    const { chunks, bytes } = this.#takeAudio();
    if (refused) return this.#actor.send({ type: 'refusal', fault: refused });
    this.#committedBytes += bytes;
    this.#actor.send({ type: 'commit', audio: chunks });
  }

  /** What is uncommitted; half a sample at its end stays for its other half. */
  #takeAudio(): TakenAudio {
    const taken = this.#audio.take();
    const half = taken.bytes % BYTES_PER_SAMPLE === 1 ? taken.chunks.at(-1)?.slice(-1) : undefined;
    if (half) this.#audio.putBack({ chunks: [half], bytes: half.byteLength, order: taken.order });
    this.#tail.reset();
    this.#lastPartial = '';
    return taken;
  }

  /** The same, and it stays. */
  #lookAtAudio(): TakenAudio {
    const taken = this.#audio.take();
    this.#audio.putBack(taken);
    return taken;
  }

  #guessWhenDue(): void {
    if (this.client.refused || !this.#tail.isDue(this.#audio.bytes)) return;
    if (this.#actor.getSnapshot().matches({ open: { listening: 'idle' } }))
      this.#actor.send({ type: 'audio' });
  }

  #perform(effect: SessionEffect): void {
    (this.#effects[effect.type] as (effect: SessionEffect) => void)(effect);
  }

  readonly #effects: Effects = {
    transcribe: ({ job, audio }) => void this.#transcribe(job, audio),
    guess: ({ job }) => void this.#guess(job),
    cancel: () => this.#job.abort(new DOMException('The transcription was cancelled', 'AbortError')),
    partial: ({ text }) => this.socket.send(partialFrame(text)),
    committed: ({ transcript }) => {
      for (const frame of committedFrames(transcript, this.client.options)) this.socket.send(frame);
    },
    error: ({ fault }) => this.socket.send(errorFrame(fault)),
    close: ({ reason }) => this.socket.close(reason),
  };

  #begin(): AbortSignal {
    this.#job = new AbortController();
    return this.#job.signal;
  }

  /** Its answer waits until the client reads. Never rejects. */
  async #transcribe(job: number, chunks: CommittedAudio): Promise<void> {
    const signal = this.#begin();
    const { options, observation: trace } = this.client;
    const { model, sampleRate, timestamps: words } = options;
    const request = { audio: { chunks, sampleRate }, model, words, trace, ...hintOf(options) };
    try {
      const transcript = await this.parts.transcription.transcribe(request, this.client.caller, signal);
      await this.socket.drained();
      this.#committedBytes -= sizeOf(chunks);
      this.#actor.send({ type: 'heard', job, transcript });
    } catch (error) {
      this.#committedBytes -= sizeOf(chunks);
      if (!signal.aborted) this.#failed(job, toServiceError(error));
    }
    this.#guessWhenDue();
  }

  /** One that fails is left out: its audio will be committed. Never rejects. */
  async #guess(job: number): Promise<void> {
    const signal = this.#begin();
    const { options, caller, observation: trace } = this.client;
    const audio = this.#tail.take(this.#lookAtAudio());
    const request = { audio, model: options.model, interim: true, trace, ...hintOf(options) };
    let segments: readonly TranscriptSegment[] | undefined;
    try {
      segments = (await this.parts.transcription.transcribe(request, caller, signal)).segments;
    } catch {
      segments = undefined;
    }
    if (signal.aborted) return;
    this.#guessed(job, segments);
    this.#guessWhenDue();
  }

  #guessed(job: number, segments: readonly TranscriptSegment[] | undefined): void {
    const text = segments ? this.#tail.heard(segments) : '';
    const isNew = text !== '' && text !== this.#lastPartial;
    if (isNew) this.#lastPartial = text;
    this.#actor.send(isNew ? { type: 'guessed', job, text } : { type: 'notGuessed', job });
  }

  #failed(job: number, error: ServiceError): void {
    const { status, code, cause } = error;
    const { generationId } = this.client;
    if (status >= FAILED)
      this.parts.log.warn({ generationId, code, err: cause }, 'a realtime transcription failed');
    const fault = faultOf(error);
    if (fault.close) this.#status = status;
    this.#actor.send({ type: 'failed', job, fault });
  }
}
