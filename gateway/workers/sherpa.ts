/**
 * The children of an operator's own models on sherpa-onnx: role `sherpa-tts` speaks with the folder SHERPA_TTS,
 * role `sherpa-stt` transcribes with SHERPA_STT, beside Silero. Models are loaded before the child takes work and warmed
 * up behind that. Words are aligned for models of English alone: what they are aligned to is English speech.
 */
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import type { SttEngine } from '../../contracts/ports/stt.js';
import { createAligner } from '../../engines/alignment/aligner.js';
import { createSherpaStt } from '../../engines/backends/sherpa/transcription.js';
import { createSherpaSpeech } from '../../engines/backends/sherpa/synthesis.js';
import { createSilero } from '../../engines/backends/silero/index.js';
import { createTranscriber } from '../../engines/long-audio.js';
import { type LoadedEngines, speechJobs } from '../../engines/serve-speech.js';
import { childPlace, serveAsChild } from '../../processes/child.js';
import { readConfig } from '../config.js';

/** A job waits on its reader or its audio most of the time, and holds the model only while it works. */
const SLOTS = 64;

interface Loaded {
  readonly engines: LoadedEngines;
  warmUp(): Promise<unknown>;
}

const config = readConfig(process.env);
const { signal } = new AbortController();

async function loadSpeech(): Promise<Loaded> {
  const engine = await createSherpaSpeech(
    config.sherpaTts ?? '',
    config.sherpaTtsLanguages,
    config.modelsDir,
  );
  const [voice] = engine.voices;
  const [language = 'en'] = voice?.languages ?? [];
  async function sayHello(): Promise<void> {
    const hello = { text: 'Hello.', voice: voice?.name ?? '', language, speed: 1 };
    for await (const event of engine.synthesize(hello, signal)) void event;
  }
  return { engines: { tts: [engine], stt: [] }, warmUp: sayHello };
}

const hearsOnlyEnglish = ({ capabilities: { languages } }: SttEngine): boolean =>
  languages !== 'any' && languages.every((language) => language === 'en');

async function loadEar(): Promise<Loaded> {
  const engine = await createSherpaStt(config.sherpaStt ?? '', config.sherpaSttLanguages);
  const align = hearsOnlyEnglish(engine) ? { align: createAligner().align } : {};
  const transcriber = createTranscriber({ engine, voiceActivity: createSilero(config.modelsDir), ...align });
  const hum = Int16Array.from({ length: RECOGNITION_RATE }, (_, at) => Math.round(8000 * Math.sin(at / 12)));
  return { engines: { tts: [], stt: [transcriber] }, warmUp: () => engine.transcribe(hum, {}, signal) };
}

const ROLES: Readonly<Record<string, () => Promise<Loaded>>> = {
  'sherpa-tts': loadSpeech,
  'sherpa-stt': loadEar,
};

const { role } = childPlace();
const load = ROLES[role];
if (!load) throw new Error(`There is no role "${role}" here`);
const { engines, warmUp } = await load();
await serveAsChild({ handlers: speechJobs(engines), slots: SLOTS });
await warmUp();
