/**
 * Recognition by an operator's model folder on sherpa-onnx, one piece at a time. The model is loaded with its first use.
 * Models for whole pieces run on a thread of libuv's; streaming ones have no such call, so the loop turns after each of
 * their chunks.
 */
import { setImmediate as turn } from 'node:timers/promises';
import sherpa, { type OnlineRecognizer } from 'sherpa-onnx-node';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { SttEngine, SttPiece } from '../../../contracts/ports/stt.js';
import { EngineScheduler } from '../../scheduling/engine-scheduler.js';
import { canHoldSpeech, plausible } from '../moonshine/hallucinations.js';
import { floatsOf } from '../samples.js';
import { ModelFolder } from './folder.js';
import { type SherpaOptions, withDefaults } from './options.js';
import { describeSherpaStt, type SherpaModel, type SherpaStt } from './stt-kinds.js';

type Decode = (samples: Float32Array, signal: AbortSignal) => Promise<string>;

const FEATURES = { sampleRate: RECOGNITION_RATE, featureDim: 80 };
const NOTHING: SttPiece = { text: '' };
/** Behind the end, so that a streaming model gives its last words. */
const TAIL_SECONDS = 0.6;
const TOO_LONG = 'The piece of audio is too long for this engine';

const opened = { numThreads: 1, debug: 0 } as const;

async function decodeInChunks(
  recognizer: OnlineRecognizer,
  samples: Float32Array,
  signal: AbortSignal,
): Promise<string> {
  const stream = recognizer.createStream();
  stream.acceptWaveform({ samples, sampleRate: RECOGNITION_RATE });
  const tail = new Float32Array(TAIL_SECONDS * RECOGNITION_RATE);
  stream.acceptWaveform({ samples: tail, sampleRate: RECOGNITION_RATE });
  stream.inputFinished();
  while (recognizer.isReady(stream)) {
    signal.throwIfAborted();
    recognizer.decode(stream);
    await turn();
  }
  return recognizer.getResult(stream).text;
}

async function load({ model, tokens }: SherpaStt): Promise<Decode> {
  const own = { featConfig: FEATURES };
  if (model.streaming) {
    const modelConfig = { ...model.config, tokens, ...opened };
    const recognizer = new sherpa.OnlineRecognizer({ ...own, modelConfig, enableEndpoint: false });
    return (samples, signal) => decodeInChunks(recognizer, samples, signal);
  }
  const modelConfig = { ...model.config, tokens, ...opened };
  const recognizer = await sherpa.OfflineRecognizer.createAsync({ ...own, modelConfig });
  return async (samples) => {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples, sampleRate: RECOGNITION_RATE });
    return (await recognizer.decodeAsync(stream)).text;
  };
}

/** Some models write in capitals only; a transcript is not shouted. */
const spelled = (text: string): string => (/\p{Ll}/u.test(text) ? text : text.toLowerCase());

const filesOf = ({ config }: SherpaModel): readonly string[] =>
  Object.values(config).flatMap((part) => Object.values(part as object) as string[]);

/** An engine of the folder's model. Throws, for the operator to read, where the folder is not one of a known kind. */
export function createSherpaStt(path: string, options: SherpaOptions = {}): SttEngine {
  const { memory, languages } = withDefaults(options);
  const folder = new ModelFolder(path);
  const found = describeSherpaStt(folder, languages);
  const loadable = { bytes: folder.memoryOf(filesOf(found.model)), load: () => load(found) };
  const scheduler = new EngineScheduler();
  const longest = found.description.capabilities.maxPieceSeconds * RECOGNITION_RATE;
  return {
    ...found.description,
    async transcribe(samples, { demand }, signal): Promise<SttPiece> {
      signal.throwIfAborted();
      if (samples.length > longest) throw new ServiceError('engine_failed', { message: TOO_LONG });
      if (!canHoldSpeech(samples)) return NOTHING;
      const place = scheduler.placeOf(demand);
      const hear = () => memory.use(loadable, (decode) => decode(floatsOf(samples), signal), signal);
      const text = await scheduler.run(place, hear, signal);
      return { text: plausible(spelled(text.trim()), samples.length / RECOGNITION_RATE) };
    },
  };
}
