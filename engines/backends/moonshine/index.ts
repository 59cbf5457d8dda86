/**
 * Moonshine (tiny, English) on sherpa-onnx: pieces of at most 15 s. Decoding runs on a thread of libuv's,
 * so the event loop stays free. Invariants: one decode at a time, scheduled by engines/scheduling/; a running
 * decode cannot be stopped, so an abort discards its result; an aborted decode that has not begun never begins.
 */
import sherpa, { type OfflineRecognizerConfig } from 'sherpa-onnx-node';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { SttEngine, SttPiece } from '../../../contracts/ports/speech/stt.js';
import { EngineScheduler } from '../../scheduling/engine-scheduler.js';
import { engineWaits } from '../../scheduling/engine-waits.js';
import { defaultModelsFolder, modelFile } from '../model-files.js';
import { floatsOf } from '../samples.js';
import { moonshineDescription } from './description.js';
import { canHoldSpeech, plausible } from './hallucinations.js';

/** The model computes its own features, but the runtime requires a dimension. */
const FEATURES = { sampleRate: RECOGNITION_RATE, featureDim: 80 };
const NOTHING: SttPiece = { text: '' };

const recognizerConfig = (folder: string): OfflineRecognizerConfig => ({
  featConfig: FEATURES,
  modelConfig: {
    moonshine: {
      encoder: modelFile(folder, 'moonshine', 'encoder_model.onnx'),
      mergedDecoder: modelFile(folder, 'moonshine', 'decoder_model_merged.onnx'),
    },
    tokens: modelFile(folder, 'moonshine', 'tokens.txt'),
    numThreads: 1,
    debug: 0,
  },
});

/** Loads the model. Throws if a file is missing, naming it. */
export async function createMoonshine(modelsFolder = defaultModelsFolder): Promise<SttEngine> {
  const recognizer = await sherpa.OfflineRecognizer.createAsync(recognizerConfig(modelsFolder));
  const longest = moonshineDescription.capabilities.maxPieceSeconds * RECOGNITION_RATE;
  const scheduler = new EngineScheduler({ waits: engineWaits });
  async function decode(samples: Int16Array): Promise<string> {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples: floatsOf(samples), sampleRate: RECOGNITION_RATE });
    return (await recognizer.decodeAsync(stream)).text;
  }
  return {
    ...moonshineDescription,
    async transcribe(samples, { demand }, signal): Promise<SttPiece> {
      signal.throwIfAborted();
      if (samples.length > longest) {
        throw new ServiceError('engine_failed', {
          message: 'The piece of audio is too long for this engine',
        });
      }
      if (!canHoldSpeech(samples)) return NOTHING;
      const text = await scheduler.run(scheduler.placeOf(demand), () => decode(samples), signal);
      return { text: plausible(text, samples.length / RECOGNITION_RATE) };
    },
  };
}
