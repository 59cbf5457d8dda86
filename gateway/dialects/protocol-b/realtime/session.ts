/**
 * The host of one realtime transcription socket: performs the effects of its statechart
 * (actors/transcription-session.ts).
 *
 * Invariants: audio goes straight into the buffer, and the machine only decides when a commit takes it out; waiting
 * audio, committed or not, shares one budget and is released when its transcription ends; audio whose transcription was
 * refused for lack of resources can be committed again; nothing is reported of a cancelled job.
 */
import { type AppendResult, IncomingAudio, type TakenAudio } from '../../../../actors/incoming-audio.js';
import { type Effects, runOnDemand, type RunningMachine } from '../../../../actors/run.js';
import {
  type PassingFault,
  type SessionEvent,
  type TranscriptionEffect,
  transcriptionSession,
} from '../../../../actors/transcription-session.js';
import { BYTES_PER_SAMPLE } from '../../../../contracts/audio.js';
import { CLOSE, endingFor } from '../../../../contracts/close-codes.js';
import { type ServiceError, toServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { Transcript, TranscriptSegment } from '../../../../contracts/ports/speech/speech.js';
import { FrameQueue, LongText } from '../../../server/frames/frame-queue.js';
import type { Socket, SocketEvents } from '../../../server/port.js';
import type { Observation } from '../../../server/tracing/trace-requests.js';
import type { ProtocolBParts } from '../parts.js';
import { type TranscriptionClientFrame, TranscriptionFrameFault, readFrame } from './client-frames.js';
import {
  BUFFER_FULL,
  faultOf,
  inputFault,
  isExhausted,
  NO_MEMORY,
  throttled,
  TOO_MANY_COMMITS,
} from './errors.js';
import { hintOf, type TranscriptionOptions } from './options.js';
import { committedFrames, errorFrame, partialFrame, startedFrame } from './server-frames.js';
import { LiveAudio } from './live-audio.js';
import { PartialTranscript } from './partial-transcript.js';

const { bufferedAudioBytes, commitMs } = LIMITS.realtimeTranscription;

const OPEN = 101;
const REFUSED = 400;
const FAILED = 500;

const NOT_BASE64 = inputFault('audio_base_64 is not base64');
const LATE_PREVIOUS_TEXT = inputFault('previous_text may only be sent with the first chunk');

export type TranscriptionSessionParts = Pick<
  ProtocolBParts,
  'transcription' | 'vocabulary' | 'clock' | 'log'
>;

export interface SessionClient {
  readonly caller: Caller;
  readonly options: TranscriptionOptions;
  readonly generationId: string;
  /** Why every commit is refused; undefined if commits are accepted (rule 6). */
  readonly refused: PassingFault | undefined;
  /** Observation that ends with the socket. */
  readonly observation: Observation;
}

interface CommittedAudio extends TakenAudio {
  /** Its start within the session's audio, in seconds. */
  readonly from: number;
  /** Its transcript, if it was heard while it was sent. */
  readonly live: Promise<Transcript | undefined> | undefined;
}

const NO_AUDIO: CommittedAudio = { chunks: [], bytes: 0, order: 0, held: 0, from: 0, live: undefined };

export class TranscriptionSession implements SocketEvents {
  readonly #machine: RunningMachine<SessionEvent>;
  readonly #audio: IncomingAudio;
  readonly #partial: PartialTranscript;
  readonly #frames: FrameQueue<TranscriptionClientFrame>;
  /** Audio of commits whose transcription has not started, oldest first. */
  readonly #committed: CommittedAudio[] = [];
  /** Bytes of commits whose transcription has not ended. */
  #committedBytes = 0;
  /** Bytes of the session's audio before the uncommitted part. */
  #passedBytes = 0;
  #job = new AbortController();
  readonly #live: LiveAudio;
  #lastPartial = '';
  /** Whether the machine was told since the last job that an interim transcription is due, so that further appends do not repeat it. */
  #dueTold = false;
  #begun = false;
  /** HTTP status that is reported for the socket when it closes. */
  #status = OPEN;

  constructor(
    private readonly socket: Socket,
    private readonly client: SessionClient,
    private readonly parts: TranscriptionSessionParts,
  ) {
    socket.chargeTo(client.caller.workspaceId);
    this.#audio = new IncomingAudio(socket.memory('audio'));
    this.#frames = new FrameQueue(socket, {
      read: (frame) => readFrame(frame, client.options.sampleRate),
      take: (frame) => void this.#take(frame),
      failed: (error) => this.#unreadable(error),
      full: () => this.#machine.send({ type: 'fault', fault: BUFFER_FULL }),
      exhausted: () => this.#machine.send({ type: 'fault', fault: NO_MEMORY }),
    });
    this.#partial = new PartialTranscript(client.options.sampleRate);
    this.#live = new LiveAudio(parts, client, () => this.#tellDue());
    const input = { tooMany: TOO_MANY_COMMITS };
    this.#machine = runOnDemand(transcriptionSession, input, parts.clock, () => this.#effects, 'gone');
    socket.send(startedFrame(client.generationId, client.options, parts.vocabulary));
  }

  message(data: string | Uint8Array): void {
    this.#frames.push(data);
  }

  longText(bytes: Buffer): void {
    this.#frames.push(new LongText(bytes));
  }

  mustEnd(error: ServiceError): void {
    this.#status = error.status;
    this.#machine.send({ type: 'fault', fault: { close: endingFor(error.code), ...faultOf(error) } });
  }

  gone(): void {
    this.#live.stop();
    this.#machine.send({ type: 'gone' });
    this.#frames.clear();
    this.#audio.drop();
    this.#committed.length = 0;
  }

  closed(): void {
    this.client.observation.end(this.#status);
  }

  #unreadable(error: unknown): void {
    if (!(error instanceof TranscriptionFrameFault)) throw error;
    if (error.fault.close) this.#status = REFUSED;
    this.#machine.send({ type: 'fault', fault: error.fault });
  }

  #append(audio: TranscriptionClientFrame['audio']): AppendResult {
    const budget = bufferedAudioBytes - this.#committedBytes;
    if (typeof audio === 'string') return this.#audio.append(audio, budget);
    return audio.bytes ? this.#audio.add(audio.bytes, budget) : 'malformed';
  }

  #take({ audio, commit, hasPreviousText }: TranscriptionClientFrame): void {
    if (hasPreviousText && this.#begun) throw new TranscriptionFrameFault(LATE_PREVIOUS_TEXT);
    const appended = this.#append(audio);
    if (appended === 'malformed') throw new TranscriptionFrameFault(NOT_BASE64);
    if (appended === 'full') this.#machine.send({ type: 'fault', fault: BUFFER_FULL });
    if (appended === 'exhausted') this.#machine.send({ type: 'fault', fault: NO_MEMORY });
    this.#begun = true;
    if (appended === 'taken' && !this.client.refused) this.#live.hear(this.#audio);
    if (commit) this.#commit();
    else this.#interimWhenDue();
  }

  #commit(): void {
    const { refused } = this.client;
    const seconds = this.#secondsOf(this.#audio.bytes);
    if (!refused && seconds * 1000 < commitMs)
      return this.#machine.send({ type: 'refusal', fault: throttled(seconds) });
    if (!refused) return this.#machine.send({ type: 'commit' });
    this.#audio.release(this.#takeAudio());
    this.#machine.send({ type: 'refusal', fault: refused });
  }

  #secondsOf(bytes: number): number {
    return bytes / BYTES_PER_SAMPLE / this.client.options.sampleRate;
  }

  #keepAudio(): void {
    const from = this.#secondsOf(this.#passedBytes);
    const live = this.#live.whole(this.#audio.bytes);
    const taken = this.#takeAudio();
    this.#committed.push({ ...taken, from, live });
    this.#committedBytes += taken.bytes;
  }

  #takeAudio(): TakenAudio {
    const taken = this.#audio.take();
    this.#passedBytes += taken.bytes;
    this.#startAnew();
    return taken;
  }

  /** Puts the audio of a refused commit back before what came later, to be committed again. */
  #returnAudio(refused: CommittedAudio): void {
    const [next] = this.#committed;
    if (next) return this.#joinToNext(refused, next);
    this.#audio.putBack(refused);
    this.#passedBytes -= refused.bytes;
    this.#startAnew();
    this.#live.miss();
    // No interim transcription at once: engines are busy, and a commit follows.
    this.#partial.skip(this.#audio.bytes);
  }

  /** Gives the audio of a refused commit to the one that already waits, so that texts and times stay in order. */
  #joinToNext(refused: CommittedAudio, next: CommittedAudio): void {
    const chunks = [...refused.chunks, ...next.chunks];
    const held = refused.held + next.held;
    this.#committed[0] = { ...refused, chunks, held, bytes: refused.bytes + next.bytes, live: undefined };
    this.#committedBytes += refused.bytes;
  }

  /** Restarts the partial transcript, since the uncommitted audio now begins elsewhere. */
  #startAnew(): void {
    this.#partial.reset();
    this.#live.reset();
    this.#lastPartial = '';
  }

  #interimWhenDue(): void {
    const { isWell, text } = this.#live;
    const isDue = isWell ? text !== this.#lastPartial : this.#partial.isDue(this.#audio.bytes);
    if (isDue && !this.client.refused) this.#tellDue();
  }

  #tellDue(): void {
    if (this.#dueTold) return;
    this.#dueTold = true;
    this.#machine.send({ type: 'audio' });
  }

  /** Reports a due interim transcription again, since the machine drops that event while a job runs. */
  #jobEnded(): void {
    this.#dueTold = false;
    this.#interimWhenDue();
  }

  readonly #effects: Effects<TranscriptionEffect> = {
    keep: () => this.#keepAudio(),
    transcribe: ({ job }) => void this.#transcribe(job, this.#committed.shift() ?? NO_AUDIO),
    transcribeInterim: ({ job }) =>
      void (this.#live.isWell ? this.#tellLive(job) : this.#transcribeInterim(job)),
    cancel: () => this.#job.abort(new DOMException('The transcription was cancelled', 'AbortError')),
    partial: ({ text }) => this.socket.send(partialFrame(text)),
    committed: ({ transcript }) => {
      for (const frame of committedFrames(transcript, this.client.options)) this.socket.send(frame);
    },
    error: ({ fault }) => this.socket.send(errorFrame(fault)),
    close: ({ reason, message }) => this.socket.close({ code: CLOSE[reason].code, reason: message }),
  };

  #begin(): AbortSignal {
    this.#job = new AbortController();
    return this.#job.signal;
  }

  /** Transcribes a commit; the result waits until the client has read what was sent. Never rejects. */
  async #transcribe(job: number, committed: CommittedAudio): Promise<void> {
    const { chunks, bytes, from } = committed;
    const signal = this.#begin();
    const { options, observation: trace } = this.client;
    const { model, sampleRate, timestamps: words } = options;
    const request = { audio: { chunks, sampleRate }, model, words, trace, ...hintOf(options) };
    try {
      const heard = committed.live && (await committed.live);
      signal.throwIfAborted();
      if (heard) this.parts.transcription.countUsage(this.client.caller, heard.duration);
      const transcript =
        heard ?? (await this.parts.transcription.transcribe(request, this.client.caller, signal));
      await this.socket.drained();
      this.#machine.send({ type: 'transcript', job, transcript: { ...transcript, from } });
      this.#audio.release(committed);
    } catch (error) {
      // Memory of an aborted one goes back with its socket.
      if (!signal.aborted) this.#failed(job, toServiceError(error), committed);
    } finally {
      this.#committedBytes -= bytes;
    }
    this.#jobEnded();
  }

  /** Tells what was heard so far, in a turn of its own, since the machine is told while it performs an effect. Never rejects. */
  async #tellLive(job: number): Promise<void> {
    const signal = this.#begin();
    await Promise.resolve();
    if (signal.aborted) return;
    this.#tellInterim(job, this.#live.text);
    this.#jobEnded();
  }

  /** Makes an interim transcription. A failed one is skipped, since its audio will be transcribed by a commit. Never rejects. */
  async #transcribeInterim(job: number): Promise<void> {
    const signal = this.#begin();
    const { options, caller, observation: trace } = this.client;
    const audio = this.#partial.take(this.#audio.look());
    const request = { audio, model: options.model, interim: true, trace, ...hintOf(options) };
    let segments: readonly TranscriptSegment[] | undefined;
    try {
      segments = (await this.parts.transcription.transcribe(request, caller, signal)).segments;
    } catch {
      segments = undefined;
    }
    if (signal.aborted) return;
    this.#interimEnded(job, segments);
    this.#jobEnded();
  }

  #interimEnded(job: number, segments: readonly TranscriptSegment[] | undefined): void {
    this.#tellInterim(job, segments ? this.#partial.add(segments) : '');
  }

  #tellInterim(job: number, text: string): void {
    const isNew = text !== '' && text !== this.#lastPartial;
    if (isNew) this.#lastPartial = text;
    this.#machine.send(isNew ? { type: 'interimText', job, text } : { type: 'noInterim', job });
  }

  #failed(job: number, error: ServiceError, committed: CommittedAudio): void {
    const { status, code, cause } = error;
    const { generationId } = this.client;
    if (status >= FAILED)
      this.parts.log.warn({ generationId, code, err: cause }, 'a realtime transcription failed');
    const fault = faultOf(error);
    if (fault.close) this.#status = status;
    if (isExhausted(fault)) this.#returnAudio(committed);
    else this.#audio.release(committed);
    this.#machine.send({ type: 'failed', job, fault });
  }
}
