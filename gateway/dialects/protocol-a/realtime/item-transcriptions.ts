/**
 * The transcriptions of a session's items that run or are queued (actors/realtime.ts decides when each begins).
 *
 * Invariants: audio counts against the session's budget until its transcription has ended; headerless audio from the input
 * buffer goes back there if its transcription fails, unless it is too long or the input format has changed; no event about a
 * transcription is sent after `abandon`.
 */
import type { TakenAudio } from '../../../../actors/incoming-audio.js';
import type { ConversationItem } from '../../../../actors/realtime-items.js';
import { isSameFormat } from '../../../../actors/realtime-settings.js';
import { type ServiceError, toServiceError } from '../../../../contracts/errors.js';
import type { Transcript, TranscriptionRequest } from '../../../../contracts/ports/speech/speech.js';
import type { RequestTrace } from '../../../../contracts/ports/trace.js';
import { joinBytes } from '../../../server/bodies/join-bytes.js';
import type { WireFormat } from './formats.js';
import { audioPartOf } from './items.js';
import type { Settings } from './settings.js';
import { logFailure, type SessionState } from './state.js';
import { TranscriptEvents } from './transcript-events.js';

/** An item whose audio is to be transcribed. */
interface Untranscribed {
  readonly item: ConversationItem;
  readonly audio: TakenAudio;
  readonly transcription: NonNullable<Settings['transcription']>;
  /** Whether the audio came from the input buffer. */
  readonly isBuffered: boolean;
}

interface Job extends Untranscribed {
  /** Input format when the audio arrived. */
  readonly input: WireFormat;
  readonly reducesNoise: boolean;
  readonly events: TranscriptEvents;
  readonly abort: AbortController;
}

/**
 * Whether the audio may go back into the input buffer. Not a file: with the next one behind it, it would be neither. And not
 * audio that is too long: so would be all that follows.
 */
const goesBack = ({ isBuffered, input }: Job, { code }: ServiceError): boolean =>
  isBuffered && input.format === 'pcm' && code !== 'audio_too_long';

/** Headerless audio is passed in chunks, as it was collected; a file's bytes must be in one piece. */
async function requestOf(
  { audio, input, transcription, reducesNoise }: Job,
  trace: RequestTrace,
): Promise<TranscriptionRequest> {
  const { id: model, language } = transcription;
  const source =
    input.format === 'pcm'
      ? { chunks: audio.chunks, sampleRate: input.sampleRate }
      : await joinBytes(audio.chunks, audio.bytes);
  return { audio: source, model, trace, reducesNoise, ...(language === undefined ? {} : { language }) };
}

export class ItemTranscriptions {
  readonly #jobs = new Map<string, Job>();

  constructor(private readonly session: SessionState) {}

  /** Queues it. */
  add(untranscribed: Untranscribed): void {
    const { events, settings } = this.session;
    const { item } = untranscribed;
    const place = { item_id: item.id, content_index: audioPartOf(item) };
    this.#jobs.set(item.id, {
      ...untranscribed,
      input: settings.input,
      reducesNoise: settings.noiseReduction !== null,
      events: new TranscriptEvents(events, place),
      abort: new AbortController(),
    });
  }

  begin(item: string): void {
    const job = this.#jobs.get(item);
    if (job) void this.#run(job);
  }

  /** Aborts it: its item was deleted, or the client has gone. */
  abandon(item: string): void {
    const job = this.#take(item);
    job?.abort.abort(new DOMException('The item was deleted', 'AbortError'));
    if (job) this.session.input.release(job.audio);
  }

  completed(item: string, transcript: Transcript): void {
    const job = this.#take(item);
    if (!job) return;
    const { conversation, audioCache, id, input } = this.session;
    input.release(job.audio);
    conversation.change(item, (entry) => {
      entry.untranscribed = undefined;
      const part = entry.parts[audioPartOf(entry)];
      if (part) part.transcript = transcript.text;
    });
    if (conversation.get(item)) audioCache.put(id, item, { chunks: job.audio.chunks, ...job.input });
    job.events.completed(transcript);
  }

  failed(item: string, error: ServiceError): void {
    const job = this.#take(item);
    if (!job) return;
    const { conversation, input, settings } = this.session;
    conversation.change(item, (entry) => (entry.untranscribed = undefined));
    if (goesBack(job, error) && isSameFormat(job.input, settings.input)) input.putBack(job.audio);
    else input.release(job.audio);
    job.events.failed(error);
  }

  #take(item: string): Job | undefined {
    const job = this.#jobs.get(item);
    this.#jobs.delete(item);
    return job;
  }

  async #run(job: Job): Promise<void> {
    const { events, abort } = job;
    const item = job.item.id;
    const { parts, client, decide } = this.session;
    const { signal } = abort;
    try {
      const transcript = await parts.transcription.transcribe(
        await requestOf(job, client.trace),
        client.caller,
        signal,
        (segment) => {
          if (!signal.aborted) events.segment(segment);
        },
      );
      // By now, the id may belong to another item.
      if (!signal.aborted) decide({ type: 'transcript', item, transcript });
    } catch (cause) {
      if (signal.aborted) return;
      const error = toServiceError(cause);
      logFailure(this.session, error, 'a realtime transcription failed');
      decide({ type: 'transcriptionFailed', item, error });
    }
  }
}
