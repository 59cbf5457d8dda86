/**
 * The configuration, read once at start from environment variables. The variables are the tables of config/settings.ts.
 * A value that does not parse stops the start with a line that names it.
 */
import { resolve } from 'node:path';
import { commandLine } from '../contracts/command-line.js';
import type { Detector } from '../contracts/ports/speech/turns.js';
import type { Vocabulary } from '../contracts/vocabulary.js';
import { SHERPA } from '../engines/backends/sherpa/folder.js';
import { checkContradictions } from './config/contradictions.js';
import { memoryBudgetBytes } from './config/memory-budget.js';
import { denoiserFile, modelFolders, picoFolder, turnModelFolder } from './config/model-folders.js';
import { strangeBase } from './config/pcm-rates.js';
import { readRemotes, type Remotes } from './config/remotes.js';
import { ConfigError, type Described, type Env, readTable } from './config/setting.js';
import { LIVEKIT, SETTINGS, TRACING } from './config/settings.js';
import { checkWords, VOCABULARY } from './config/vendor-words.js';
import { basesOf } from './dialects/protocol-a/bases.js';

export { ConfigError } from './config/setting.js';
export type { RemoteKind } from './config/remotes.js';
export type { IceServer } from './config/settings.js';

type Settings = ReturnType<typeof readTable<typeof SETTINGS>>;

/** A LiveKit server or cluster that carries sessions instead of this process. */
export interface LivekitSettings {
  /** `wss://…`, for agents, clients and the room service alike. */
  readonly url: string;
  readonly key: string;
  readonly secret: string;
}

export interface TurnModelPlace {
  readonly detector: Exclude<Detector, 'tables'>;
  readonly folder: string;
}

export interface Config extends Settings {
  readonly vocabulary: Vocabulary;
  /** The remote engines whose address is configured, by name. */
  readonly remotes: Remotes;
  readonly livekit: LivekitSettings | undefined;
  /** The models of the engines `sherpa`. */
  readonly models: { readonly tts: readonly string[]; readonly stt: readonly string[] };
  /** The audio model for end-of-turn detection, and its mode; undefined if none was added. */
  readonly turns: TurnModelPlace | undefined;
  /** File of the noise reduction model; undefined if none was added. */
  readonly denoiser: string | undefined;
  /** Folder of the lingware of the engine `pico`; undefined if it was not added. */
  readonly pico: string | undefined;
  /** Bounds what waits in the memory of all gateway processes. */
  readonly memoryBudgetBytes: number;
}

/** What follows from the models that are there, which are added and taken away while gateways run. */
export type ModelChoice = Pick<
  Config,
  'models' | 'turns' | 'denoiser' | 'pico' | 'ttsEngines' | 'sttEngines'
>;

export const modelChoice = (config: Config): ModelChoice => {
  const { models, turns, denoiser, pico, ttsEngines, sttEngines } = config;
  return { models, turns, denoiser, pico, ttsEngines, sttEngines };
};

/** LiveKit's variables, which are set together or not at all. */
function readLivekit(env: Env): LivekitSettings | undefined {
  const { url, key, secret } = readTable(LIVEKIT, env);
  return url && key && secret ? { url, key, secret } : undefined;
}

/** The operator's own models go first, and `pico` speaks if its lingware is there, unless TTS_ENGINES or STT_ENGINES are set. */
function readModels({ sherpaTts, sherpaStt, modelsDir, ttsEngines, sttEngines }: Settings, env: Env) {
  const pico = picoFolder(modelsDir);
  const models = {
    tts: modelFolders('tts', sherpaTts, modelsDir),
    stt: modelFolders('stt', sherpaStt, modelsDir),
  };
  const withOwn = (setting: Described, engines: readonly string[], own: readonly string[]) =>
    env[setting.env] || own.length === 0 ? engines : [SHERPA, ...engines];
  const speaking = ttsEngines.filter((name) => name !== 'pico' || pico !== undefined || env.TTS_ENGINES);
  return {
    models,
    pico,
    ttsEngines: withOwn(SETTINGS.ttsEngines, speaking, models.tts),
    sttEngines: withOwn(SETTINGS.sttEngines, sttEngines, models.stt),
  };
}

/** Errors: `ConfigError` for a configured model that was not added. */
function readTurns({ turnDetector, modelsDir }: Settings): TurnModelPlace | undefined {
  const folder = turnModelFolder(modelsDir);
  if (turnDetector === 'tables' || (turnDetector === 'auto' && folder === undefined)) return undefined;
  if (folder !== undefined) return { detector: turnDetector === 'auto' ? 'both' : turnDetector, folder };
  throw new ConfigError(
    `TURN_DETECTOR=${turnDetector} needs a model: ${commandLine('models', 'add smart-turn-v3')}`,
  );
}

/** Errors: `ConfigError` for a base that does not exist. */
function checkPcmRates({ pcmRates, vocabulary }: Config): void {
  const bases = basesOf(vocabulary);
  const strange = strangeBase(pcmRates, bases);
  if (strange === undefined) return;
  const known = bases.map(({ path }) => path).join(', ');
  throw new ConfigError(`PCM_RATE names ${strange}, which is none of ${known}`);
}

/** Errors: `ConfigError` naming the variable. */
export function readConfig(env: Env): Config {
  const settings = readTable(SETTINGS, env);
  const vocabulary = readTable(VOCABULARY, env);
  const config = {
    ...settings,
    dataDir: resolve(settings.dataDir),
    ...readModels(settings, env),
    turns: readTurns(settings),
    denoiser: denoiserFile(settings.modelsDir),
    vocabulary,
    remotes: readRemotes(env),
    livekit: readLivekit(env),
    memoryBudgetBytes: memoryBudgetBytes(settings.memoryBudgetMb, settings.workers),
  };
  readTable(TRACING, env);
  checkWords(vocabulary);
  checkPcmRates(config);
  checkContradictions(env);
  return config;
}
