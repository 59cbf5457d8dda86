/**
 * The engines that a configuration can name, as tables: which child they run in, and how the gateway
 * reaches them. A new engine is one row here and its folder below engines/backends/.
 */
import { createToneSpeech, createToneTranscriber } from '../../engines/backends/tone/index.js';
import { ESPEAK_PACKAGES, espeakDescription } from '../../engines/backends/espeak/description.js';
import { fliteDescription } from '../../engines/backends/flite/description.js';
import { moonshineDescription } from '../../engines/backends/moonshine/description.js';
import {
  createNativeSpeech,
  createNativeTranscriber,
} from '../../engines/backends/native-compatible/index.js';
import {
  createOpenaiSpeech,
  createOpenaiTranscriber,
} from '../../engines/backends/openai-compatible/index.js';
import type { RemoteSettings } from '../../engines/backends/remote/settings.js';
import { ModelFolder } from '../../engines/backends/sherpa/folder.js';
import { openSpeakingFolder } from '../../engines/backends/sherpa/piper.js';
import { describeSherpaStt } from '../../engines/backends/sherpa/stt-kinds.js';
import { describeSherpaTts } from '../../engines/backends/sherpa/tts-kinds.js';
import { sttInChild, ttsInChild } from '../../engines/child-engines.js';
import { errorText } from '../../contracts/errors.js';
import type { JobRunner } from '../../contracts/ports/jobs.js';
import type { TtsEngine } from '../../contracts/ports/tts.js';
import type { Transcriber } from '../../engines/long-audio.js';
import { createRegistry, type Registry } from '../../engines/registry.js';
import { type Config, ConfigError, type RemoteName } from '../config.js';
import { notInstalled } from '../config/installed.js';
import { notAdded } from '../config/model-folders.js';
import type { RoleName } from './roles.js';

interface EngineRow<Engine> {
  /** The child that runs it; absent: this process. */
  readonly role?: RoleName;
  /** Files below MODELS_DIR that it needs. */
  readonly models: readonly string[];
  /** Throws `ConfigError` where it cannot run here. */
  check?(config: Config): void;
  reach(runner: (role: RoleName) => JobRunner, config: Config): Engine;
}

function needPackages(engine: string, packages: readonly string[]): void {
  const missing = notInstalled(packages).join(' ');
  if (missing !== '')
    throw new ConfigError(`The engine "${engine}" needs optional packages: npm install ${missing}`);
}

function settingsOf({ remotes }: Config, remote: RemoteName): RemoteSettings {
  const settings = remotes[remote];
  if (settings) return settings;
  throw new ConfigError(`The engine "${remote}-compatible" needs REMOTE_${remote.toUpperCase()}_URL`);
}

/** Describes an operator's model folder without loading the model. Errors: `ConfigError`. */
function inFolder<D>(
  variable: string,
  path: string | undefined,
  modelsDir: string,
  describe: (path: string) => { readonly description: D },
): D {
  if (path === undefined)
    throw new ConfigError(`The engine "sherpa" needs ${variable}, a model of "npm run models" or a folder`);
  const missing = notAdded(path, modelsDir);
  if (missing !== undefined)
    throw new ConfigError(`${variable}: ${missing} is not there; npm run models -- add ${missing}`);
  try {
    return describe(path).description;
  } catch (error) {
    throw new ConfigError(`${variable}: ${errorText(error)}`);
  }
}

const sherpaTts = ({ sherpaTts: path, sherpaTtsLanguages: languages, modelsDir }: Config) =>
  inFolder('SHERPA_TTS', path, modelsDir, (folder) =>
    describeSherpaTts(openSpeakingFolder(folder, modelsDir), languages),
  );
const sherpaStt = ({ sherpaStt: path, sherpaSttLanguages: languages, modelsDir }: Config) =>
  inFolder('SHERPA_STT', path, modelsDir, (folder) => describeSherpaStt(new ModelFolder(folder), languages));

/** A row of an engine whose address the configuration must tell. */
const remoteRow = <E>(remote: RemoteName, create: (settings: RemoteSettings) => E): EngineRow<E> => ({
  models: [],
  check: (config) => void settingsOf(config, remote),
  reach: (_runner, config) => create(settingsOf(config, remote)),
});

const TTS: Readonly<Record<string, EngineRow<TtsEngine>>> = {
  flite: { role: 'tts', models: [], reach: (runner) => ttsInChild(runner('tts'), fliteDescription) },
  espeak: {
    role: 'espeak',
    models: [],
    check: () => needPackages('espeak', ESPEAK_PACKAGES),
    reach: (runner) => ttsInChild(runner('espeak'), espeakDescription),
  },
  sherpa: {
    role: 'sherpa-tts',
    models: [],
    check: (config) => void sherpaTts(config),
    reach: (runner, config) => ttsInChild(runner('sherpa-tts'), sherpaTts(config)),
  },
  'openai-compatible': remoteRow('openai', createOpenaiSpeech),
  'native-compatible': remoteRow('native', createNativeSpeech),
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
  sherpa: {
    role: 'sherpa-stt',
    models: ['silero/silero_vad_v6.onnx'],
    check: (config) => void sherpaStt(config),
    reach: (runner, config) => sttInChild(runner('sherpa-stt'), sherpaStt(config)),
  },
  'openai-compatible': remoteRow('openai', createOpenaiTranscriber),
  'native-compatible': remoteRow('native', createNativeTranscriber),
  tone: { models: [], reach: createToneTranscriber },
};

function rowsOf<E>(
  variable: string,
  table: Readonly<Record<string, EngineRow<E>>>,
  names: readonly string[],
  config: Config,
) {
  return names.map((name) => {
    const row = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!row)
      throw new ConfigError(`${variable} names "${name}"; there are ${Object.keys(table).join(', ')}`);
    row.check?.(config);
    return row;
  });
}

const ttsRows = (config: Config) => rowsOf('TTS_ENGINES', TTS, config.ttsEngines, config);
const sttRows = (config: Config) => rowsOf('STT_ENGINES', STT, config.sttEngines, config);

/** The roles of children that the configured engines run in. Errors: `ConfigError`. */
export const engineRoles = (config: Config): ReadonlySet<RoleName> =>
  new Set([...ttsRows(config), ...sttRows(config)].flatMap(({ role }) => (role ? [role] : [])));

/** Files below MODELS_DIR that the configured engines need. */
export const engineModels = (config: Config): readonly string[] =>
  [...ttsRows(config), ...sttRows(config)].flatMap(({ models }) => models);

export const reachEngines = (config: Config, runner: (role: RoleName) => JobRunner): Registry =>
  createRegistry({
    tts: ttsRows(config).map((row) => row.reach(runner, config)),
    stt: sttRows(config).map((row) => row.reach(runner, config)),
    routes: config.modelRoutes,
  });
