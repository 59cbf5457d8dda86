/**
 * The `speech` children (docs/architecture.md "Processes"): role `tts` holds Flite and Pico, role `stt` holds Moonshine
 * with Silero and word alignment. Flite is loaded before the child takes work, and warmed up behind that; a voice of Pico
 * is loaded with the first text for it, the transcriber with the first audio.
 * `PICO_LINGWARE` names the folder of Pico's voices, if they are there, `MODELS_DIR` that of the model files.
 *
 * A job waits on its reader or its audio most of the time and holds no engine meanwhile, so a child has
 * more slots than it can speak at once: one slow reader does not keep the others waiting. One workspace's usual number
 * of jobs fits into those for batch work.
 */
import { systemClock } from '../../contracts/clock.js';
import { JOB_PLACES } from '../../contracts/limits/job-places.js';
import type { TtsEngine } from '../../contracts/ports/speech/tts.js';
import { createAligner } from '../../engines/alignment/aligner.js';
import { createFlite } from '../../engines/backends/flite/index.js';
import { defaultModelsFolder } from '../../engines/backends/model-files.js';
import { moonshineDescription } from '../../engines/backends/moonshine/description.js';
import { createMoonshine } from '../../engines/backends/moonshine/index.js';
import { createPico } from '../../engines/backends/pico/index.js';
import { createSilero } from '../../engines/backends/silero/index.js';
import { createTranscriber, type Transcriber } from '../../engines/long-audio.js';
import { onFirstUse } from '../../engines/on-first-use.js';
import { engineWaits } from '../../engines/scheduling/engine-waits.js';
import { speechJobs, type LoadedEngines } from '../../engines/serve-speech.js';
import { childPlace, serveAsChild } from '../../processes/child/child.js';
import { collectHere } from '../../processes/idle-collection.js';

interface Role {
  load(): Promise<{ readonly engines: LoadedEngines; warmUp?(): Promise<void> }>;
}

const forever = new AbortController().signal;

/** One word with the default voice compiles the code that a first sentence would wait for. */
async function sayHello(engine: TtsEngine): Promise<void> {
  const voice = engine.voices[0]?.name ?? '';
  const request = { text: 'Hello.', voice, language: 'en', speed: 1, timing: true } as const;
  for await (const event of engine.synthesize(request, forever)) void event;
}

const moonshine = {
  name: moonshineDescription.name,
  languages: moonshineDescription.capabilities.languages,
};

async function loadTranscriber(): Promise<Transcriber> {
  const folder = process.env.MODELS_DIR || defaultModelsFolder;
  const engine = await createMoonshine(folder);
  const { align } = createAligner();
  return createTranscriber({ engine, voiceActivity: createSilero(folder), align });
}

const ROLES: Readonly<Record<'tts' | 'stt', Role>> = {
  tts: {
    async load() {
      const flite = await createFlite();
      const lingware = process.env.PICO_LINGWARE;
      const tts = lingware ? [flite, createPico(lingware)] : [flite];
      return { engines: { tts, stt: [] }, warmUp: () => sayHello(flite) };
    },
  },
  stt: {
    load() {
      const transcriber = onFirstUse(moonshine, loadTranscriber);
      return Promise.resolve({ engines: { tts: [], stt: [transcriber] } });
    },
  },
};

const { role } = childPlace();
if (role !== 'tts' && role !== 'stt') throw new Error(`There is no speech role "${role}"`);
const row = ROLES[role];
const { engines, warmUp } = await row.load();
await serveAsChild({ engineWaits, handlers: speechJobs(engines), ...JOB_PLACES[role] });
collectHere(systemClock);
await warmUp?.();
