/**
 * Synthesis by an operator's model folder on sherpa-onnx. The model is loaded on first use and runs on a thread of
 * libuv's, one piece at a time. Invariant: an abort rejects at once; the thread stops after its current sentence, and the
 * model stays in memory until then.
 */
import sherpa, { type OfflineTts, type OfflineTtsConfig } from 'sherpa-onnx-node';
import { ServiceError } from '../../../contracts/errors.js';
import type { TtsEngine, TtsEvent, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { spokenText } from '../../normalisation/index.js';
import { EngineScheduler } from '../../scheduling/engine-scheduler.js';
import { engineWaits } from '../../scheduling/engine-waits.js';
import { samplesOfFloats } from '../samples.js';
import { hasSound } from '../sound.js';
import { type SherpaOptions, withDefaults } from './options.js';
import { openSpeakingFolder } from './piper.js';
import { describeSherpaTts } from './tts-kinds.js';

const CHUNKS_PER_SECOND = 10;

/** Control characters and lone surrogates mean nothing to a model, and its C strings end at a zero. */
// oxlint-disable-next-line no-control-regex
const UNSPEAKABLE = /[\u0000-\u001f\u007f\p{Cs}]+/gu;

interface Speaker {
  readonly sid: number;
  /** eSpeak's name of the language; undefined: the model needs none. */
  readonly lang: string | undefined;
}

async function generate(
  tts: OfflineTts,
  text: string,
  { sid, lang }: Speaker,
  signal: AbortSignal,
): Promise<Int16Array> {
  const { samples } = await tts.generateAsync({
    text: text.replace(UNSPEAKABLE, ' '),
    generationConfig: { sid, speed: 1, extra: lang === undefined ? {} : { lang } },
    enableExternalBuffer: false,
    onProgress: () => !signal.aborted,
  });
  return samplesOfFloats(samples);
}

/** The files that a model is opened with. */
const filesOf = (model: OfflineTtsConfig['model']): readonly string[] =>
  Object.values(model).flatMap((part) => (typeof part === 'object' ? (Object.values(part) as string[]) : []));

/**
 * An engine of the folder's model; files made from it first are kept below `modelsDir`. Throws, with an error for the
 * operator, if the folder is not of a known kind.
 */
export function createSherpaSpeech(path: string, options: SherpaOptions = {}): TtsEngine {
  const { modelsDir, memory, languages } = withDefaults(options);
  const folder = openSpeakingFolder(path, modelsDir);
  const { description, speakers, model, langOf } = describeSherpaTts(folder, languages);
  const { sampleRate } = description.capabilities;
  async function load(): Promise<OfflineTts> {
    await folder.prepare();
    const tts = await sherpa.OfflineTts.createAsync({ model, maxNumSentences: 1 });
    if (tts.sampleRate === sampleRate) return tts;
    throw new Error(`The model in ${path} speaks at ${tts.sampleRate} Hz, but says ${sampleRate}`);
  }
  const loadable = { bytes: folder.memoryOf(filesOf(model)), load };
  const scheduler = new EngineScheduler({ waits: engineWaits });
  const chunk = Math.floor(sampleRate / CHUNKS_PER_SECOND);
  function* eventsOf(samples: Int16Array): Generator<TtsEvent> {
    for (let at = 0; at < samples.length; at += chunk)
      yield { kind: 'audio', samples: samples.slice(at, at + chunk) };
  }
  async function* synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsEvent> {
    signal.throwIfAborted();
    const sid = speakers.get(request.voice);
    if (sid === undefined) throw new ServiceError('voice_not_found');
    if (!hasSound(request.text)) return;
    const { text, language, normalize = true } = request;
    const said = normalize ? spokenText(text, language) : text;
    const speaker = { sid, lang: langOf(request.voice) };
    const speak = () => memory.use(loadable, (tts) => generate(tts, said, speaker, signal), signal);
    const samples = await scheduler.run(scheduler.placeOf(request.demand), speak, signal);
    yield* scheduler.handOut(eventsOf(samples), signal);
  }
  return { ...description, synthesize };
}
