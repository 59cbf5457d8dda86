/**
 * Engines that run in a speech child, seen from the gateway: the ports over a JobRunner. An engine's
 * capabilities come from its description, so nothing is loaded here. Errors besides the engine's own:
 * `engine_lost` when the child dies, `engine_busy` when its queue is full of the owner's jobs.
 */
import type { JobRunner } from '../contracts/ports/jobs.js';
import type { SttCapabilities } from '../contracts/ports/speech/stt.js';
import type { EngineVoice, TtsCapabilities, TtsEngine, TtsEvent } from '../contracts/ports/speech/tts.js';
import type { TimedSegment, TranscribeOptions, Transcriber } from './long-audio.js';
import {
  eventOfValue,
  segmentOfValue,
  SPEECH_JOBS,
  valuesOfAudio,
  type SynthesizeArgs,
  type TranscribeArgs,
} from './speech-jobs.js';

export interface TtsDescription {
  readonly name: string;
  readonly capabilities: TtsCapabilities;
  readonly voices: readonly EngineVoice[];
}

export interface SttDescription {
  readonly name: string;
  readonly capabilities: SttCapabilities;
}

/** A synthesis engine of the children that `runner` reaches. */
export function ttsInChild(runner: JobRunner, description: TtsDescription): TtsEngine {
  return {
    ...description,
    async *synthesize({ whom: _whom, ...request }, signal): AsyncGenerator<TtsEvent> {
      const args: SynthesizeArgs = { engine: description.name, request };
      const options = { signal, ...(request.demand && { owner: request.demand }) };
      for await (const value of runner.runJob(SPEECH_JOBS.synthesize, args, options))
        yield eventOfValue(value);
    },
  };
}

/** The job's arguments; options that are not set are left out of the message. */
const argsOf = (
  engine: string,
  { language, words = false, sampleRate, seconds, interim, demand }: TranscribeOptions,
): TranscribeArgs => ({
  engine,
  words,
  ...(language === undefined ? {} : { language }),
  ...(sampleRate === undefined ? {} : { sampleRate }),
  ...(seconds === undefined ? {} : { seconds }),
  ...(interim === true ? { interim } : {}),
  ...(demand === undefined ? {} : { demand }),
});

/** A transcriber of the children that `runner` reaches; voice activity also runs there. */
export function sttInChild(runner: JobRunner, description: SttDescription): Transcriber {
  return {
    name: description.name,
    languages: description.capabilities.languages,
    wantsLanguage: description.capabilities.wantsLanguage,
    async *transcribe(audio, asked, signal): AsyncGenerator<TimedSegment> {
      const args = argsOf(description.name, asked);
      const options = { input: valuesOfAudio(audio), signal, ...(asked.demand && { owner: asked.demand }) };
      for await (const value of runner.runJob(SPEECH_JOBS.transcribe, args, options))
        yield segmentOfValue(value);
    },
  };
}
