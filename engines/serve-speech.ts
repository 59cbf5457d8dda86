/** The child's side of engines: job handlers over the engines that the child has loaded. */
import { ServiceError } from '../contracts/errors.js';
import type { JobContext, JobHandlers, JobValue } from '../contracts/ports/jobs.js';
import type { TtsEngine } from '../contracts/ports/speech/tts.js';
import { ShortAudioQueue } from './short-audio-queue.js';
import type { Transcriber } from './long-audio.js';
import {
  audioOfValues,
  SPEECH_JOBS,
  valueOfSegment,
  valuesOfEvent,
  type SynthesizeArgs,
  type TranscribeArgs,
} from './speech-jobs.js';

export interface LoadedEngines {
  readonly tts: readonly TtsEngine[];
  readonly stt: readonly Transcriber[];
}

function named<E extends { readonly name: string }>(engines: readonly E[], name: string): E {
  const engine = engines.find((candidate) => candidate.name === name);
  if (!engine) throw new ServiceError('engine_failed', { message: 'This child does not hold that engine' });
  return engine;
}

/** Handlers for `serveJobs`. Errors: the engines' own, `engine_failed` for an engine that is not loaded here. */
export function speechJobs({ tts, stt }: LoadedEngines): JobHandlers {
  const shortAudio = new ShortAudioQueue();
  async function* synthesize(
    { engine, request }: SynthesizeArgs,
    _input: AsyncIterable<JobValue>,
    { signal }: JobContext,
  ): AsyncGenerator<JobValue> {
    const speaker = named(tts, engine);
    for await (const event of speaker.synthesize(request, signal)) {
      yield* valuesOfEvent(event, speaker.capabilities.sampleRate);
    }
  }
  async function* transcribe(
    { engine, language, ...options }: TranscribeArgs,
    input: AsyncIterable<JobValue>,
    { signal }: JobContext,
  ): AsyncGenerator<JobValue> {
    const listener = named(stt, engine);
    const seconds = options.interim ? undefined : options.seconds;
    const leave = await shortAudio.enter(seconds, options.demand, signal);
    try {
      const asked = { ...options, language: language ?? undefined };
      for await (const segment of listener.transcribe(audioOfValues(input), asked, signal))
        yield valueOfSegment(segment);
    } finally {
      leave();
    }
  }
  return { [SPEECH_JOBS.synthesize]: synthesize, [SPEECH_JOBS.transcribe]: transcribe };
}
