/**
 * The children of an operator's own models on sherpa-onnx: role `sherpa-tts` speaks with those of SHERPA_TTS, role
 * `sherpa-stt` transcribes with those of SHERPA_STT, beside Silero. The first model is loaded before the child counts as
 * ready, the others on first use. Words are aligned for English models only, because the reference for alignment is
 * English speech.
 */
import { systemClock } from '../../contracts/clock.js';
import { JOB_PLACES } from '../../contracts/limits/job-places.js';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import type { SttEngine } from '../../contracts/ports/speech/stt.js';
import type { TtsEngine } from '../../contracts/ports/speech/tts.js';
import { createAligner } from '../../engines/alignment/aligner.js';
import { LoadedModels } from '../../engines/backends/sherpa/loaded-models.js';
import { createSherpaStt } from '../../engines/backends/sherpa/transcription.js';
import { createSherpaSpeech } from '../../engines/backends/sherpa/synthesis.js';
import { createSilero } from '../../engines/backends/silero/index.js';
import { createTranscriber } from '../../engines/long-audio.js';
import { type LoadedEngines, speechJobs } from '../../engines/serve-speech.js';
import { engineWaits } from '../../engines/scheduling/engine-waits.js';
import { childPlace, serveAsChild } from '../../processes/child/child.js';
import { collectHere } from '../../processes/idle-collection.js';
import { readConfig } from '../config.js';
import { folderForCopies } from '../config/model-folders.js';

interface Loaded {
  readonly engines: LoadedEngines;
  /** Runs the first model once. */
  warmUp(): Promise<unknown>;
}

const config = readConfig(process.env);
const { signal } = new AbortController();
const memory = new LoadedModels(config.sherpaMemoryMb * 1e6);

async function sayHello(engine: TtsEngine): Promise<void> {
  const [voice] = engine.voices;
  const hello = { text: 'Hello.', voice: voice?.name ?? '', language: voice?.languages[0] ?? 'en', speed: 1 };
  for await (const event of engine.synthesize(hello, signal)) void event;
}

function openSpeech(): Loaded {
  const { dataDir, sherpaTtsLanguages: languages } = config;
  const modelsDir = folderForCopies([config.modelsDir, dataDir]);
  const tts = config.models.tts.map((path) => createSherpaSpeech(path, { modelsDir, languages, memory }));
  return { engines: { tts, stt: [] }, warmUp: async () => tts[0] && sayHello(tts[0]) };
}

const hearsOnlyEnglish = ({ capabilities: { languages } }: SttEngine): boolean =>
  languages !== 'any' && languages.every((language) => language === 'en');

function openEars(): Loaded {
  const { modelsDir, sherpaSttLanguages: languages } = config;
  const recognisers = config.models.stt.map((path) =>
    createSherpaStt(path, { modelsDir, languages, memory }),
  );
  const aligner = recognisers.some(hearsOnlyEnglish) ? createAligner() : undefined;
  const voiceActivity = createSilero(modelsDir);
  const stt = recognisers.map((engine) =>
    createTranscriber({
      engine,
      voiceActivity,
      ...(aligner && hearsOnlyEnglish(engine) ? { align: aligner.align } : {}),
    }),
  );
  const hum = Int16Array.from({ length: RECOGNITION_RATE }, (_, at) => Math.round(8000 * Math.sin(at / 12)));
  return { engines: { tts: [], stt }, warmUp: async () => recognisers[0]?.transcribe(hum, {}, signal) };
}

const ROLES: Readonly<Record<'sherpa-tts' | 'sherpa-stt', () => Loaded>> = {
  'sherpa-tts': openSpeech,
  'sherpa-stt': openEars,
};

const { role } = childPlace();
if (role !== 'sherpa-tts' && role !== 'sherpa-stt') throw new Error(`There is no role "${role}" here`);
const { engines, warmUp } = ROLES[role]();
await warmUp();
await serveAsChild({ engineWaits, handlers: speechJobs(engines), ...JOB_PLACES[role] });
collectHere(systemClock);
