/**
 * The transcriptions of a session that run or wait for their turn, by item (actors/realtime.ts says when).
 *
 * Invariants: audio counts against the session's budget until its transcription has ended; what came from the input
 * buffer goes back there when it fails; nothing of a transcription leaves after `leave`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TakenAudio } from '../../../../actors/realtime-audio.js';
import { type ServiceError, toServiceError } from '../../../../contracts/errors.js';
import type { Transcript, TranscriptionRequest } from '../../../../contracts/ports/speech.js';
import type { RequestTrace } from '../../../../contracts/ports/trace.js';
import type { WireFormat } from './formats.js';
import { audioPartOf } from './items.js';
import type { Settings } from './settings.js';
import { logFailure, type SessionState } from './state.js';
import { TranscriptEvents } from './transcript-events.js';

interface Job {
  readonly item: string;
  readonly audio: TakenAudio;
  /** As it was when the audio came. */
  readonly input: WireFormat;
  readonly transcription: NonNullable<Settings['transcription']>;
  readonly isBuffered: boolean;
  readonly events: TranscriptEvents;
  readonly abort: AbortController;
}

/** Bytes that are copied in one turn of the loop. */
const SLICE_BYTES = 4 * 1024 * 1024;

/** One piece, without holding up the loop for as long as that takes. */
async function joined({ chunks, bytes }: TakenAudio): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  let sinceTurn = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
    sinceTurn += chunk.byteLength;
    if (sinceTurn < SLICE_BYTES) continue;
    sinceTurn = 0;
    await nextTurn();
  }
  return whole;
}

const isSame = (one: WireFormat, other: WireFormat): boolean =>
  one.format === other.format && one.sampleRate === other.sampleRate;

/** Headerless audio goes as it was collected; a file's bytes must be in one piece. */
async function requestOf(
  { audio, input, transcription }: Job,
  trace: RequestTrace,
): Promise<TranscriptionRequest> {
  const { id: model, language } = transcription;
  const source =
    input.format === 'pcm' ? { chunks: audio.chunks, sampleRate: input.sampleRate } : await joined(audio);
  return { audio: source, model, trace, ...(language === undefined ? {} : { language }) };
}

export class Hearing {
  readonly #jobs = new Map<string, Job>();

  constructor(private readonly session: SessionState) {}

  /** The item's audio is to be transcribed; `isBuffered`: it came from the input buffer. */
  add(item: string, audio: TakenAudio, transcription: Job['transcription'], isBuffered: boolean): void {
    const { conversation, events, settings, decide } = this.session;
    const entry = conversation.get(item);
    const place = { item_id: item, content_index: entry ? audioPartOf(entry) : 0 };
    this.#jobs.set(item, {
      item,
      audio,
      transcription,
      isBuffered,
      input: settings.input,
      events: new TranscriptEvents(events, place),
      abort: new AbortController(),
    });
    decide({ type: 'hear', item });
  }

  listen(item: string): void {
    const job = this.#jobs.get(item);
    if (job) void this.#run(job);
  }

  /** Nobody waits for it any more. */
  leave(item: string): void {
    this.#jobs.get(item)?.abort.abort(new DOMException('The item was deleted', 'AbortError'));
    this.#jobs.delete(item);
  }

  completed(item: string, transcript: Transcript): void {
    const job = this.#take(item);
    if (!job) return;
    const { conversation, shelf, id } = this.session;
    conversation.change(item, (entry) => {
      entry.unheard = undefined;
      const part = entry.parts[audioPartOf(entry)];
      if (part) part.transcript = transcript.text;
    });
    if (conversation.get(item)) shelf.put(id, item, { chunks: job.audio.chunks, ...job.input });
    job.events.completed(transcript);
  }

  failed(item: string, error: ServiceError): void {
    const job = this.#take(item);
    if (!job) return;
    const { conversation, input, settings } = this.session;
    conversation.change(item, (entry) => (entry.unheard = undefined));
    if (job.isBuffered && isSame(job.input, settings.input)) input.putBack(job.audio);
    job.events.failed(error);
  }

  #take(item: string): Job | undefined {
    const job = this.#jobs.get(item);
    this.#jobs.delete(item);
    return job;
  }

  async #run(job: Job): Promise<void> {
    const { item, events, abort } = job;
    const { parts, client, decide } = this.session;
    const { signal } = abort;
    try {
      const transcript = await parts.transcription.transcribe(
        await requestOf(job, client.trace),
        client.caller,
        signal,
        (segment) => {
          if (!signal.aborted) events.heard(segment);
        },
      );
      // The item's id may stand for another one by now.
      if (!signal.aborted) decide({ type: 'heard', item, transcript });
    } catch (cause) {
      if (signal.aborted) return;
      const error = toServiceError(cause);
      logFailure(this.session, error, 'a realtime transcription failed');
      decide({ type: 'unheard', item, error });
    }
  }
}
