/**
 * Audio that is transcribed while it arrives, for who has it anyway: if that fails, or its end takes too long, there is no transcript, and
 * all of the audio is transcribed as usual (ops/adr/0075-heard-while-spoken.md).
 *
 * Invariant: after a failure or `stop` nothing more is told, and no audio is held.
 */
import { ServiceError } from '../contracts/errors.js';
import { ONLINE_TIMES } from '../contracts/limits/online-times.js';
import type { Caller } from '../contracts/ports/accounts/identity.js';
import type {
  HeardSoFar,
  ListeningRequest,
  Transcript,
  Transcription,
} from '../contracts/ports/speech/speech.js';

/** Samples that wait to be read, until `end`. */
class ArrivingAudio implements AsyncIterable<Int16Array> {
  readonly #waiting: Int16Array[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  push(samples: Int16Array): void {
    if (!this.#ended) this.#waiting.push(samples);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  drop(): void {
    this.#waiting.length = 0;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Int16Array> {
    for (;;) {
      const samples = this.#waiting.shift();
      if (samples) yield samples;
      else if (this.#ended) return;
      else await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}

export interface OnHearing {
  /** The text of all audio so far, whenever it has changed. */
  changed(text: string): void;
  failed(error: unknown): void;
}

/** Longest waits for the transcript after the end of the audio, and for more audio, in ms. */
const { wordsMs: END_MS, idleMs: IDLE_MS } = ONLINE_TIMES.recogniser;

const idle = (): ServiceError =>
  new ServiceError('engine_failed', { message: `No audio came for ${IDLE_MS / 1000} s` });

const late = (): ServiceError =>
  new ServiceError('first_byte_timeout', { message: `No transcript within ${END_MS / 1000} s of the end` });

const early = (): ServiceError =>
  new ServiceError('engine_failed', { message: 'The recogniser ended before the audio' });

export class LiveHearing {
  #isWell = true;
  #text = '';
  #ended = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #idle = setTimeout(() => this.ending.abort(idle()), IDLE_MS);
  readonly #whole: Promise<Transcript | undefined>;

  private constructor(
    heard: AsyncIterable<HeardSoFar>,
    private readonly audio: ArrivingAudio,
    private readonly ending: AbortController,
    private readonly on: OnHearing,
  ) {
    this.#whole = this.#read(heard);
  }

  /** Undefined if the recogniser hears whole audio only. `signal`: ends it. */
  static open(
    transcription: Transcription,
    request: Omit<ListeningRequest, 'audio'>,
    caller: Caller,
    on: OnHearing,
    signal: AbortSignal,
  ): LiveHearing | undefined {
    if (!transcription.listen) return undefined;
    const audio = new ArrivingAudio();
    const ending = new AbortController();
    const until = AbortSignal.any([signal, ending.signal]);
    const heard = transcription.listen({ ...request, audio }, caller, until);
    return heard && new LiveHearing(heard, audio, ending, on);
  }

  /** Whether it still hears, or has heard everything. */
  get isWell(): boolean {
    return this.#isWell;
  }

  /** Of all audio so far. */
  get text(): string {
    return this.#text;
  }

  push(samples: Int16Array): void {
    if (!this.#isWell) return;
    this.#idle.refresh();
    this.audio.push(samples);
  }

  /** No more audio comes. The transcript of all of it; undefined if there will be none. */
  whole(): Promise<Transcript | undefined> {
    this.#ended = true;
    clearTimeout(this.#idle);
    this.audio.end();
    if (this.#isWell) this.#timer ??= setTimeout(() => this.ending.abort(late()), END_MS);
    return this.#whole;
  }

  stop(): void {
    if (!this.#isWell) return;
    this.#isWell = false;
    this.ending.abort(new DOMException('Nobody waits for it', 'AbortError'));
  }

  async #read(heard: AsyncIterable<HeardSoFar>): Promise<Transcript | undefined> {
    try {
      for await (const { final, ...soFar } of heard) {
        if (!this.#isWell) break;
        if (final && !this.#ended) throw early();
        if (final) return soFar;
        if (soFar.text === this.#text) continue;
        this.#text = soFar.text;
        this.on.changed(soFar.text);
      }
    } catch (error) {
      const isTold = this.#isWell;
      this.#isWell = false;
      if (isTold) this.on.failed(error);
    } finally {
      clearTimeout(this.#timer);
      clearTimeout(this.#idle);
      this.audio.drop();
    }
    this.#isWell = false;
    return undefined;
  }
}
