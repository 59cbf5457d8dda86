/**
 * Recognition by an operator's model folder on sherpa-onnx, one piece at a time. The model is loaded on first use.
 * Models for whole pieces run on a thread of libuv's; streaming ones have no asynchronous call, so the loop turns after
 * each of their chunks.
 */
import { setImmediate as turn } from 'node:timers/promises';
import sherpa, { type OnlineRecognizer } from 'sherpa-onnx-node';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LANGUAGE_CODES, type LanguageCode } from '../../../contracts/speech/languages.js';
import type { SttEngine, SttPiece } from '../../../contracts/ports/speech/stt.js';
import { EngineScheduler } from '../../scheduling/engine-scheduler.js';
import { engineWaits } from '../../scheduling/engine-waits.js';
import { canHoldSpeech, plausible } from '../moonshine/hallucinations.js';
import { floatsOf } from '../samples.js';
import { ModelFolder } from './folder.js';
import type { Loadable } from './loaded-models.js';
import { type SherpaOptions, withDefaults } from './options.js';
import { describeSherpaStt, type SherpaModel, type SherpaStt } from './stt-kinds.js';

/** One piece; `language`: the model's own code of the spoken language, undefined if not given. */
type Decode = (
  samples: Float32Array,
  language: string | undefined,
  signal: AbortSignal,
) => Promise<Recognised>;
type Recognised = Pick<SttPiece, 'text' | 'language'>;

const FEATURES = { sampleRate: RECOGNITION_RATE, featureDim: 80 };
const NOTHING: SttPiece = { text: '' };
/** Silence after the end, so that a streaming model gives its last words. */
const TAIL_SECONDS = 0.6;
const TOO_LONG = 'The piece of audio is too long for this engine';

const opened = { numThreads: 1, debug: 0 } as const;

async function decodeInChunks(
  recognizer: OnlineRecognizer,
  samples: Float32Array,
  signal: AbortSignal,
): Promise<Recognised> {
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
  return { text: recognizer.getResult(stream).text };
}

/** The language in a model's output, `de` or `<|de|>`; none if it is no known language. */
function languageIn(written: string | undefined): { readonly language?: LanguageCode } {
  const code = written?.replace(/[<|>]/g, '') ?? '';
  return LANGUAGE_CODES.includes(code) ? { language: code } : {};
}

type Offline = SherpaModel & { streaming: false };

/** Opens a model for whole pieces in a language, which is set again if another one is spoken. */
async function loadOffline({ config, hint }: Offline, tokens: string, first: string): Promise<Decode> {
  const configIn = (language: string) => {
    const model = language === '' ? config : (hint?.config(language) ?? config);
    return { featConfig: FEATURES, modelConfig: { ...model, tokens, ...opened } };
  };
  const recognizer = await sherpa.OfflineRecognizer.createAsync(configIn(first));
  let current = first;
  return async (samples, language = '') => {
    if (hint?.changes && language !== current) recognizer.setConfig(configIn((current = language)));
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples, sampleRate: RECOGNITION_RATE });
    const { text, lang } = await recognizer.decodeAsync(stream);
    return { text, ...languageIn(lang) };
  };
}

async function load({ model, tokens }: SherpaStt, language: string): Promise<Decode> {
  if (!model.streaming) return loadOffline(model, tokens, language);
  const modelConfig = { ...model.config, tokens, ...opened };
  const recognizer = new sherpa.OnlineRecognizer({
    featConfig: FEATURES,
    modelConfig,
    enableEndpoint: false,
  });
  return (samples, _language, signal) => decodeInChunks(recognizer, samples, signal);
}

/** The text in lower case if a model wrote it in capitals only. */
const spelled = (text: string): string => (/\p{Ll}/u.test(text) ? text : text.toLowerCase());

const filesOf = ({ config }: SherpaModel): readonly string[] =>
  Object.values(config).flatMap((part) => Object.values(part as object) as string[]);

/** The model in memory: one for all languages, or one for each if its language cannot be changed. */
function loadablesOf(found: SherpaStt, bytes: number): (language: string | undefined) => Loadable<Decode> {
  const several = !found.model.streaming && found.model.hint?.changes === false;
  const loadables = new Map<string, Loadable<Decode>>();
  return (language = '') => {
    const key = several ? language : '';
    const loadable = loadables.get(key) ?? { bytes, load: () => load(found, key) };
    loadables.set(key, loadable);
    return loadable;
  };
}

/** An engine of the folder's model. Throws, with an error for the operator, if the folder is not of a known kind. */
export function createSherpaStt(path: string, options: SherpaOptions = {}): SttEngine {
  const { memory, languages } = withDefaults(options);
  const folder = new ModelFolder(path);
  const found = describeSherpaStt(folder, languages);
  const loadableFor = loadablesOf(found, folder.memoryOf(filesOf(found.model)));
  const codes = found.model.streaming ? undefined : found.model.hint?.codes;
  const scheduler = new EngineScheduler({ waits: engineWaits });
  const longest = found.description.capabilities.maxPieceSeconds * RECOGNITION_RATE;
  return {
    ...found.description,
    async transcribe(samples, { demand, language }, signal): Promise<SttPiece> {
      signal.throwIfAborted();
      if (samples.length > longest) throw new ServiceError('engine_failed', { message: TOO_LONG });
      if (!canHoldSpeech(samples)) return NOTHING;
      const place = scheduler.placeOf(demand);
      const code = codes?.get(language ?? '');
      const recognise = () =>
        memory.use(loadableFor(code), (decode) => decode(floatsOf(samples), code, signal), signal);
      const { text, ...recognised } = await scheduler.run(place, recognise, signal);
      return { text: plausible(spelled(text.trim()), samples.length / RECOGNITION_RATE), ...recognised };
    },
  };
}
