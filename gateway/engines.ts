/**
 * The engines that a configuration can name, as tables: which child they run in, and how the gateway
 * reaches them. A new engine is one row here and its folder below engines/backends/.
 */
import { createToneSpeech, createToneTranscriber } from '../engines/backends/tone/index.js';
import { ESPEAK_PACKAGES, espeakDescription } from '../engines/backends/espeak/description.js';
import { fliteDescription } from '../engines/backends/flite/description.js';
import { moonshineDescription } from '../engines/backends/moonshine/description.js';
import { sttInChild, ttsInChild } from '../engines/child-engines.js';
import type { JobRunner } from '../contracts/ports/jobs.js';
import type { TtsEngine } from '../contracts/ports/tts.js';
import type { Transcriber } from '../engines/long-audio.js';
import { createRegistry, type Registry } from '../engines/registry.js';
import { type Config, ConfigError } from './config.js';
import type { RoleName } from './roles.js';

interface EngineRow<Engine> {
  /** The child that runs it; absent: this process. */
  readonly role?: RoleName;
  /** Files below MODELS_DIR that it needs. */
  readonly models: readonly string[];
  /** Optional packages that it needs. */
  readonly packages?: readonly string[];
  reach(runner: (role: RoleName) => JobRunner): Engine;
}

const TTS: Readonly<Record<string, EngineRow<TtsEngine>>> = {
  flite: { role: 'tts', models: [], reach: (runner) => ttsInChild(runner('tts'), fliteDescription) },
  espeak: {
    role: 'espeak',
    models: [],
    packages: ESPEAK_PACKAGES,
    reach: (runner) => ttsInChild(runner('espeak'), espeakDescription),
  },
  tone: { models: [], reach: createToneSpeech },
};

const STT: Readonly<Record<string, EngineRow<Transcriber>>> = {
  moonshine: {
    role: 'stt',
    models: [
      'moonshine/encoder_model.onnx',
      'moonshine/decoder_model_merged.onnx',
      'moonshine/tokens.txt',
      'silero/silero_vad_v6.onnx',
    ],
    reach: (runner) => sttInChild(runner('stt'), moonshineDescription),
  },
  tone: { models: [], reach: createToneTranscriber },
};

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== '';
  } catch {
    return false;
  }
}

function checkPackages(variable: string, name: string, packages: readonly string[]): void {
  const missing = packages.filter((wanted) => !isInstalled(wanted));
  if (missing.length === 0) return;
  throw new ConfigError(
    `${variable} names "${name}", which needs optional packages: npm install ${missing.join(' ')}`,
  );
}

function rowsOf<E>(
  variable: string,
  table: Readonly<Record<string, EngineRow<E>>>,
  names: readonly string[],
) {
  return names.map((name) => {
    const row = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!row)
      throw new ConfigError(`${variable} names "${name}"; there are ${Object.keys(table).join(', ')}`);
    checkPackages(variable, name, row.packages ?? []);
    return row;
  });
}

const ttsRows = ({ ttsEngines }: Config) => rowsOf('TTS_ENGINES', TTS, ttsEngines);
const sttRows = ({ sttEngines }: Config) => rowsOf('STT_ENGINES', STT, sttEngines);

/** The roles of children that the configured engines run in. Errors: `ConfigError`. */
export const engineRoles = (config: Config): ReadonlySet<RoleName> =>
  new Set([...ttsRows(config), ...sttRows(config)].flatMap(({ role }) => (role ? [role] : [])));

/** Files below MODELS_DIR that the configured engines need. */
export const engineModels = (config: Config): readonly string[] =>
  [...ttsRows(config), ...sttRows(config)].flatMap(({ models }) => models);

export const reachEngines = (config: Config, runner: (role: RoleName) => JobRunner): Registry =>
  createRegistry({
    tts: ttsRows(config).map((row) => row.reach(runner)),
    stt: sttRows(config).map((row) => row.reach(runner)),
    routes: config.modelRoutes,
  });
