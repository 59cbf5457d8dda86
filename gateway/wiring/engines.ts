/**
 * The engines that a configuration can name, as tables: which child they run in, and how the gateway
 * reaches them. A new engine is one row here and its folder below engines/backends/.
 */
import { commandLine } from '../../contracts/command-line.js';
import { createToneSpeech, createToneTranscriber } from '../../engines/backends/tone/index.js';
import { ESPEAK_PACKAGES, espeakDescription } from '../../engines/backends/espeak/description.js';
import { fliteDescription } from '../../engines/backends/flite/description.js';
import { moonshineDescription } from '../../engines/backends/moonshine/description.js';
import {
  createDeepgramSpeech,
  createDeepgramTranscriber,
} from '../../engines/backends/deepgram-compatible/index.js';
import {
  createElevenlabsSpeech,
  createElevenlabsTranscriber,
} from '../../engines/backends/elevenlabs-compatible/index.js';
import {
  createNativeSpeech,
  createNativeTranscriber,
} from '../../engines/backends/native-compatible/index.js';
import {
  createOpenaiSpeech,
  createOpenaiTranscriber,
} from '../../engines/backends/openai-compatible/index.js';
import { picoDescription } from '../../engines/backends/pico/description.js';
import type { RemoteSettings } from '../../engines/backends/remote/settings.js';
import { ModelFolder } from '../../engines/backends/sherpa/folder.js';
import { openSpeakingFolder } from '../../engines/backends/sherpa/piper.js';
import { describeSherpaStt } from '../../engines/backends/sherpa/stt-kinds.js';
import { describeSherpaTts } from '../../engines/backends/sherpa/tts-kinds.js';
import { sttInChild, ttsInChild } from '../../engines/child-engines.js';
import { errorText } from '../../contracts/errors.js';
import { type Log, silentLog } from '../../contracts/log.js';
import type { LanguageCode } from '../../contracts/speech/languages.js';
import { type Keeper, noKeeper } from '../../contracts/ports/parts.js';
import type { JobRunner } from '../../contracts/ports/jobs.js';
import type { TtsEngine } from '../../contracts/ports/speech/tts.js';
import type { Transcriber } from '../../engines/long-audio.js';
import { watchedRecogniser, watchedVoice } from '../../engines/watched.js';
import {
  type ChangingRegistry,
  createRegistry,
  type EnginesInUse,
  isNamed,
  type Registry,
} from '../../engines/registry.js';
import { type Config, ConfigError, type RemoteKind } from '../config.js';
import { notInstalled } from '../config/installed.js';
import { notAdded } from '../config/model-folders.js';
import { urlSettingOf } from '../config/remotes.js';
import type { RoleName } from './roles.js';

interface EngineRow<Engine> {
  /** The role of the child that runs it; absent: it runs in this process. */
  readonly role?: RoleName;
  /** Files below MODELS_DIR that it needs. */
  readonly models: readonly string[];
  /** It asks a service elsewhere, and tells the keeper itself. */
  readonly isRemote?: true;
  /** Its models are added and taken away while the gateway runs. */
  readonly isChanging?: true;
  /** Throws `ConfigError` if it cannot run here. */
  check?(config: Config): void;
  /** One engine, or one per model. */
  reach(
    runner: (role: RoleName) => JobRunner,
    config: Config,
    keeper: Keeper,
    log: Log,
  ): Engine | readonly Engine[];
}

function needPackages(engine: string, packages: readonly string[]): void {
  const missing = notInstalled(packages).join(' ');
  if (missing !== '')
    throw new ConfigError(`The engine "${engine}" needs optional packages: npm install ${missing}`);
}

function needLingware({ pico }: Config): void {
  if (pico === undefined)
    throw new ConfigError(`The engine "pico" needs its voices: ${commandLine('models', 'add pico')}`);
}

/** Those of the kind. Errors: `ConfigError` if there are none. */
function settingsOf({ remotes }: Config, kind: RemoteKind): readonly RemoteSettings[] {
  const found = Object.values(remotes).filter((remote) => remote.kind === kind);
  if (found.length > 0) return found.map(({ settings }) => settings);
  throw new ConfigError(
    `The engine "${kind}" needs ${urlSettingOf(kind)}, or REMOTE_1_URL with REMOTE_1_KIND=${kind}`,
  );
}

interface OwnModels<D> {
  /** The setting that lists them. */
  readonly variable: string;
  readonly places: readonly string[];
  readonly languages: readonly LanguageCode[] | undefined;
  readonly modelsDir: string;
  describe(place: string): { readonly description: D };
}

/** Describes one of the operator's models without loading it. Errors: `ConfigError`. */
function describeOwn<D>({ variable, modelsDir, describe }: OwnModels<D>, place: string): D {
  const missing = notAdded(place, modelsDir);
  if (missing !== undefined)
    throw new ConfigError(`${variable}: ${missing} is not there; ${commandLine('models', `add ${missing}`)}`);
  try {
    return describe(place).description;
  } catch (error) {
    throw new ConfigError(`${variable}: ${errorText(error)}`);
  }
}

/** The descriptions of the operator's models. Errors: `ConfigError`. */
function ownModels<D extends { readonly name: string }>(models: OwnModels<D>): readonly D[] {
  const { variable, places, languages } = models;
  if (places.length === 0)
    throw new ConfigError(`The engine "sherpa" needs ${variable}, or a model of "${commandLine('models')}"`);
  if (languages && places.length > 1)
    throw new ConfigError(`${variable}_LANGUAGES is for one model, and there are ${places.length}`);
  const described = places.map((place) => describeOwn(models, place));
  const names = described.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new ConfigError(`${variable} has two models named ${twice}`);
  return described;
}

const sherpaTts = ({ models, sherpaTtsLanguages: languages, modelsDir }: Config) =>
  ownModels({
    variable: 'SHERPA_TTS',
    places: models.tts,
    languages,
    modelsDir,
    describe: (place) => describeSherpaTts(openSpeakingFolder(place, modelsDir), languages),
  });
const sherpaStt = ({ models, sherpaSttLanguages: languages, modelsDir }: Config) =>
  ownModels({
    variable: 'SHERPA_STT',
    places: models.stt,
    languages,
    modelsDir,
    describe: (place) => describeSherpaStt(new ModelFolder(place), languages),
  });

/** The row of engines whose address must be configured: one for each service of the kind. */
const remoteRow = <E>(
  kind: RemoteKind,
  create: (settings: RemoteSettings, keeper: Keeper, log: Log) => E,
): EngineRow<E> => ({
  models: [],
  isRemote: true,
  check: (config) => void settingsOf(config, kind),
  reach: (_runner, config, keeper, log) =>
    settingsOf(config, kind).map((settings) => create(settings, keeper, log)),
});

const NOT_LISTED = 'a request named a model that REMOTE_NATIVE_TTS_MODELS does not list';

/** Says once of each model that another one speaks for it. */
const nativeSpeech = (settings: RemoteSettings, keeper: Keeper, log: Log): TtsEngine =>
  createNativeSpeech(settings, keeper, (model) =>
    log.warn({ model, instead: settings.ttsModel }, NOT_LISTED),
  );

const TTS: Readonly<Record<string, EngineRow<TtsEngine>>> = {
  flite: { role: 'tts', models: [], reach: (runner) => ttsInChild(runner('tts'), fliteDescription) },
  pico: {
    role: 'tts',
    models: [],
    check: needLingware,
    reach: (runner) => ttsInChild(runner('tts'), picoDescription),
  },
  espeak: {
    role: 'espeak',
    models: [],
    check: () => needPackages('espeak', ESPEAK_PACKAGES),
    reach: (runner) => ttsInChild(runner('espeak'), espeakDescription),
  },
  sherpa: {
    role: 'sherpa-tts',
    isChanging: true,
    models: [],
    check: (config) => void sherpaTts(config),
    reach: (runner, config) => sherpaTts(config).map((model) => ttsInChild(runner('sherpa-tts'), model)),
  },
  'openai-compatible': remoteRow('openai-compatible', createOpenaiSpeech),
  'native-compatible': remoteRow('native-compatible', nativeSpeech),
  'elevenlabs-compatible': remoteRow('elevenlabs-compatible', createElevenlabsSpeech),
  'deepgram-compatible': remoteRow('deepgram-compatible', createDeepgramSpeech),
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
    isChanging: true,
    models: ['silero/silero_vad_v6.onnx'],
    check: (config) => void sherpaStt(config),
    reach: (runner, config) => sherpaStt(config).map((model) => sttInChild(runner('sherpa-stt'), model)),
  },
  'openai-compatible': remoteRow('openai-compatible', createOpenaiTranscriber),
  'native-compatible': remoteRow('native-compatible', createNativeTranscriber),
  'elevenlabs-compatible': remoteRow('elevenlabs-compatible', createElevenlabsTranscriber),
  'deepgram-compatible': remoteRow('deepgram-compatible', createDeepgramTranscriber),
  tone: { models: [], reach: createToneTranscriber },
};

function rowsOf<E>(
  variable: string,
  table: Readonly<Record<string, EngineRow<E>>>,
  names: readonly string[],
  config: Config,
) {
  return names.map((name) => {
    const [first = ''] = name.split('/', 1);
    const row = Object.hasOwn(table, first) ? table[first] : undefined;
    if (!row)
      throw new ConfigError(`${variable} names "${name}"; there are ${Object.keys(table).join(', ')}`);
    row.check?.(config);
    return { ...row, name };
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

type Runners = (role: RoleName) => JobRunner;

interface Named {
  readonly name: string;
}

/** The engines of a row that the list means: all of them, or the one that it names (`sherpa/kokoro-en`). Errors: `ConfigError` if there is none. */
function meantBy<E extends Named>({ name }: Named, engines: readonly E[]): readonly E[] {
  const meant = engines.filter((engine) => isNamed(engine, name));
  if (meant.length > 0) return meant;
  const known = engines.map((engine) => engine.name).join(', ');
  throw new ConfigError(`There is no engine "${name}", but ${known}`);
}

/** Each engine once, where it is first named. Those of remote services tell the keeper by themselves. */
function reached<E extends Named>(
  rows: readonly (EngineRow<E> & Named)[],
  reach: (row: EngineRow<E>) => E | readonly E[],
  watched: (engine: E) => E,
): readonly E[] {
  const all = new Map<string, E>();
  for (const row of rows) {
    const engines = meantBy(row, [reach(row)].flat() as readonly E[]);
    for (const engine of engines.filter(({ name }) => !all.has(name)))
      all.set(engine.name, row.isRemote ? engine : watched(engine));
  }
  return [...all.values()];
}

/** What rows have made, by what makes it. */
type Made<E> = Map<EngineRow<E>['reach'], E | readonly E[]>;

/**
 * Makes the engines of a configuration, again as models are added and taken away: those of services and of this process are made once,
 * since they hold connections.
 */
export class EngineMaker {
  readonly #voices: Made<TtsEngine> = new Map();
  readonly #recognisers: Made<Transcriber> = new Map();

  constructor(
    private readonly runner: Runners,
    private readonly keeper: Keeper,
    private readonly log: Log,
  ) {}

  /** Errors: `ConfigError` naming the variable. */
  enginesOf(config: Config): EnginesInUse {
    const { keeper } = this;
    return {
      tts: reached(
        ttsRows(config),
        (row) => this.#reach(row, config, this.#voices),
        (engine) => watchedVoice(engine, keeper),
      ),
      stt: reached(
        sttRows(config),
        (row) => this.#reach(row, config, this.#recognisers),
        (engine) => watchedRecogniser(engine, keeper),
      ),
    };
  }

  /** Errors: `ConfigError` naming the variable. */
  registryOf(config: Config): ChangingRegistry {
    return createRegistry({ ...this.enginesOf(config), routes: config.modelRoutes });
  }

  #reach<E>(row: EngineRow<E>, config: Config, made: Made<E>): E | readonly E[] {
    const { runner, keeper, log } = this;
    const engines = made.get(row.reach) ?? row.reach(runner, config, keeper, log);
    if (!row.isChanging) made.set(row.reach, engines);
    return engines;
  }
}

/** Of engines that are only asked for their names. */
const NOBODY: JobRunner = {
  runJob() {
    throw new Error('nothing has started yet');
  },
};

/** All engines in use, of which none works. Errors: `ConfigError`. */
export function namedEngines(config: Config): readonly (TtsEngine | Transcriber)[] {
  const { tts, stt } = new EngineMaker(() => NOBODY, noKeeper, silentLog).enginesOf(config);
  return [...tts, ...stt];
}

/** Errors: `ConfigError` naming the variable. */
export const reachEngines = (
  config: Config,
  runner: Runners,
  keeper: Keeper = noKeeper,
  log: Log = silentLog,
): Registry => new EngineMaker(runner, keeper, log).registryOf(config);
