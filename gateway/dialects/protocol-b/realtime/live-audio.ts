/**
 * The uncommitted audio of one socket, as a recogniser hears it that hears while it is sent. One hearing for each commit: it begins with
 * the first audio after the last commit, and ends with the next.
 */
import type { IncomingAudio } from '../../../../actors/incoming-audio.js';
import { LiveHearing } from '../../../../actors/live-hearing.js';
import { BYTES_PER_SAMPLE, samplesOf } from '../../../../contracts/audio.js';
import { toServiceError } from '../../../../contracts/errors.js';
import type { Log } from '../../../../contracts/log.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { Transcript, Transcription } from '../../../../contracts/ports/speech/speech.js';
import type { RequestTrace } from '../../../../contracts/ports/trace.js';
import { hintOf, type TranscriptionOptions } from './options.js';
import { lastBytes } from './partial-transcript.js';

interface Speaker {
  readonly caller: Caller;
  readonly options: TranscriptionOptions;
  readonly observation: RequestTrace;
  readonly generationId: string;
}

export class LiveAudio {
  #live: LiveHearing | undefined;
  /** Bytes of the uncommitted audio that were handed on; undefined if it is not heard. */
  #passed: number | undefined = 0;
  readonly #gone = new AbortController();

  /** `changed`: its text has. */
  constructor(
    private readonly parts: { readonly transcription: Transcription; readonly log: Log },
    private readonly client: Speaker,
    private readonly changed: () => void,
  ) {}

  get isWell(): boolean {
    return this.#live?.isWell === true;
  }

  /** Of all uncommitted audio. */
  get text(): string {
    return this.#live?.text ?? '';
  }

  /** Hands new audio on. */
  hear(audio: Pick<IncomingAudio, 'bytes' | 'look'>): void {
    if (this.#passed === undefined || audio.bytes - this.#passed < BYTES_PER_SAMPLE) return;
    this.#live ??= this.#open();
    if (!this.#live?.isWell) return this.miss();
    const { chunks, bytes } = audio.look();
    const until = bytes - (bytes % BYTES_PER_SAMPLE);
    const news = Buffer.concat(lastBytes(chunks, bytes - this.#passed)).subarray(0, until - this.#passed);
    this.#passed = until;
    this.#live.push(samplesOf(news));
  }

  /** The transcript of all of it; undefined if it was not heard. `bytes`: its length. */
  whole(bytes: number): Promise<Transcript | undefined> | undefined {
    const live = this.#live;
    // The hearing goes on without this.
    this.#live = undefined;
    if (live && bytes - (this.#passed ?? 0) < BYTES_PER_SAMPLE) return live.whole();
    live?.stop();
    return undefined;
  }

  /** The next audio is the first after a commit. */
  reset(): void {
    this.#live?.stop();
    this.#live = undefined;
    this.#passed = 0;
  }

  /** The audio is not heard until the next commit, which transcribes all of it. */
  miss(): void {
    this.#live?.stop();
    this.#live = undefined;
    this.#passed = undefined;
  }

  /** The client has left. */
  stop(): void {
    this.#gone.abort(new DOMException('The client has left', 'AbortError'));
    this.miss();
  }

  #open(): LiveHearing | undefined {
    const { caller, options, observation: trace, generationId } = this.client;
    const { model, sampleRate } = options;
    const failed = (error: unknown): void => {
      if (this.#gone.signal.aborted) return;
      const { code } = toServiceError(error);
      this.parts.log.warn({ generationId, code, err: error }, 'a recogniser failed while it listened');
    };
    return LiveHearing.open(
      this.parts.transcription,
      { model, sampleRate, trace, uncounted: true, ...hintOf(options) },
      caller,
      { changed: () => this.changed(), failed },
      this.#gone.signal,
    );
  }
}
