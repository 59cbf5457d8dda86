/**
 * Settings of remote speech services: one table for each kind, alike except for defaults and for what a kind does not have, and nine more by
 * number, each of which says its kind (ops/adr/0069-several-services.md).
 */
import { MP3_BITRATES, type OutputFormat } from '../../contracts/audio.js';
import { FORMATS } from '../../codecs/formats.js';
import { SYNTHESIS_MODELS } from '../../contracts/speech/models.js';
import { DEEPGRAM_RATES } from '../../engines/backends/deepgram-compatible/rates.js';
import { ELEVENLABS_RATES } from '../../engines/backends/elevenlabs-compatible/rates.js';
import type { RemoteFormat } from '../../engines/backends/remote/audio.js';
import type { RemoteSettings } from '../../engines/backends/remote/settings.js';
import {
  addresses,
  choice,
  ConfigError,
  count,
  credential,
  type Env,
  languages,
  list,
  named,
  parsed,
  readTable,
  type Table,
  text,
} from './setting.js';

type Passed = Readonly<Record<string, OutputFormat>>;

const mp3At = (sampleRate: number): Passed =>
  Object.fromEntries(
    MP3_BITRATES.map((mp3Bitrate) => [
      `mp3_${sampleRate}_${mp3Bitrate}`,
      { format: 'mp3', sampleRate, mp3Bitrate },
    ]),
  );
const OPUS: Passed = Object.fromEntries(
  FORMATS.opus.rates.map((sampleRate) => [`opus_${sampleRate}`, { format: 'opus', sampleRate }]),
);

/** Formats that can be passed on, by the names that protocol B has for them; raw audio needs no encoding in any case. */
const PASSED: Passed = { ...Object.assign({}, ...FORMATS.mp3.rates.map(mp3At)), ...OPUS };

export const REMOTE_KINDS = [
  'openai-compatible',
  'native-compatible',
  'elevenlabs-compatible',
  'deepgram-compatible',
] as const;
export type RemoteKind = (typeof REMOTE_KINDS)[number];

interface KindRow {
  readonly prefix: string;
  /** What its address is of, in a sentence. */
  readonly service: string;
  readonly initial: Pick<RemoteSettings, 'ttsModel' | 'sttModel' | 'liveModel' | 'voices' | 'rate'>;
  readonly keyAs?: RemoteSettings['keyAs'];
  readonly passed?: Passed;
  /** Rates of its audio, if it has only some. */
  readonly rates?: readonly number[];
  /** Settings that it does not have. */
  readonly lacks: readonly (keyof ReturnType<typeof tableOf>)[];
}

const KINDS: Readonly<Record<RemoteKind, KindRow>> = {
  'openai-compatible': {
    prefix: 'REMOTE_OPENAI',
    service: 'the engine openai-compatible, with its /v1',
    initial: { ttsModel: 'tts-1', sttModel: 'whisper-1', voices: ['alloy'], rate: 24_000 },
    lacks: ['liveModel', 'ttsModels'],
  },
  'native-compatible': {
    prefix: 'REMOTE_NATIVE',
    service: 'the engine native-compatible; a fish-speech server streams wav',
    initial: { ttsModel: 's2.1-pro', sttModel: 'transcribe-1', voices: ['default'], rate: 44_100 },
    lacks: ['liveModel', 'context'],
  },
  'elevenlabs-compatible': {
    prefix: 'REMOTE_ELEVENLABS',
    service: 'the engine elevenlabs-compatible, without its /v1',
    initial: {
      ttsModel: 'eleven_flash_v2_5',
      sttModel: 'scribe_v1',
      liveModel: 'scribe_v2_realtime',
      voices: [],
      rate: 24_000,
    },
    keyAs: 'xi-api-key',
    passed: { ...mp3At(44_100), ...OPUS },
    rates: ELEVENLABS_RATES,
    lacks: ['format', 'ttsModels'],
  },
  'deepgram-compatible': {
    prefix: 'REMOTE_DEEPGRAM',
    service: 'the engine deepgram-compatible, without its /v1',
    initial: {
      ttsModel: '',
      sttModel: 'nova-3',
      liveModel: 'nova-3',
      voices: ['aura-2-thalia-en'],
      rate: 24_000,
    },
    keyAs: 'token',
    rates: DEEPGRAM_RATES,
    lacks: ['ttsModel', 'format', 'passThrough', 'ttsModels'],
  },
};

const BY_ITSELF = 'those that it lists';

/** All settings that a service may have. */
function tableOf(prefix: string, { service, initial, passed = PASSED }: Omit<KindRow, 'lacks'>) {
  return {
    urls: addresses(`${prefix}_URL`, `Address of ${service}; several share the work.`),
    key: credential(`${prefix}_KEY`, 'Its API key.'),
    ttsModel: text(`${prefix}_TTS_MODEL`, initial.ttsModel, 'Model that it speaks with.'),
    sttModel: text(`${prefix}_STT_MODEL`, initial.sttModel, 'Model that it transcribes with.'),
    liveModel: parsed<string | undefined>(
      `${prefix}_STT_LIVE_MODEL`,
      initial.liveModel,
      { parse: (raw) => raw, wanted: 'text', kind: 'text' },
      'Model that it hears calls and realtime transcription with, while they are spoken; "none": whole audio only.',
    ),
    context: choice<'on' | 'off'>(
      `${prefix}_STT_CONTEXT`,
      'on',
      ['on', 'off'],
      'Whether its recogniser is told the words that are expected, and the question that is answered, as far as it has fields for them.',
    ),
    voices: list(
      `${prefix}_VOICES`,
      initial.voices,
      'Its voices, as it names them.',
      initial.voices.length === 0 ? { shown: BY_ITSELF } : {},
    ),
    languages: languages(`${prefix}_LANGUAGES`, 'Languages that it speaks.', { shown: 'all' }),
    format: choice<RemoteFormat>(
      `${prefix}_FORMAT`,
      'pcm',
      ['pcm', 'wav'],
      'Format that is requested from it.',
    ),
    passThrough: named(
      `${prefix}_PASS_THROUGH`,
      passed,
      'Formats that it answers exactly so; they are passed on to clients without being encoded here.',
    ),
    rate: count(`${prefix}_RATE`, initial.rate, [8000, 48_000], 'Sample rate in Hz of its audio.'),
    ttsModels: list(
      `${prefix}_TTS_MODELS`,
      SYNTHESIS_MODELS,
      `Its models that a request may name; for others it speaks with ${prefix}_TTS_MODEL.`,
    ),
  };
}

/** Those of its settings that the kind has. */
function shownTable(kind: RemoteKind): Table {
  const row = KINDS[kind];
  const lacks: readonly string[] = row.lacks;
  return Object.fromEntries(
    Object.entries(tableOf(row.prefix, row)).filter(([name]) => !lacks.includes(name)),
  );
}

/** The settings of the one service of each kind, for help and documentation. */
export const REMOTES: Readonly<Record<RemoteKind, Table>> = {
  'openai-compatible': shownTable('openai-compatible'),
  'native-compatible': shownTable('native-compatible'),
  'elevenlabs-compatible': shownTable('elevenlabs-compatible'),
  'deepgram-compatible': shownTable('deepgram-compatible'),
};

export const MOST_NUMBERED = 9;
const NUMBERS = Array.from({ length: MOST_NUMBERED }, (_, at) => at + 1);

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

const ownTable = (number: number) => ({
  kind: choice<RemoteKind>(
    `REMOTE_${number}_KIND`,
    'openai-compatible',
    REMOTE_KINDS,
    'What it is: the kind of its API.',
  ),
  name: parsed<string>(
    `REMOTE_${number}_NAME`,
    String(number),
    {
      parse: (raw) => (NAME.test(raw) ? raw : undefined),
      wanted: 'up to 32 small letters, digits and -',
      kind: 'name',
    },
    'Its engine is called KIND/NAME, in TTS_ENGINES, STT_ENGINES and MODEL_ROUTES.',
  ),
});

const OF_ITS_KIND = new Set(['ttsModel', 'sttModel', 'liveModel', 'voices', 'rate']);

/** For help and documentation: defaults are those of its kind. */
function numberedTable(number: number): Table {
  const kinds = { ...KINDS['openai-compatible'], service: 'one more service, with its own settings' };
  const table = tableOf(`REMOTE_${number}`, kinds);
  const shown = Object.entries(table).map(([name, setting]) => [
    name,
    OF_ITS_KIND.has(name) ? { ...setting, shown: 'that of its kind' } : setting,
  ]);
  return { urls: table.urls, ...ownTable(number), ...Object.fromEntries(shown) };
}

/** `REMOTE_1_…`, which `REMOTE_2_…` to `REMOTE_9_…` are like. */
export const NUMBERED: Table = numberedTable(1);

/** Names of the settings of each number. */
export const NUMBERED_NAMES: readonly (readonly string[])[] = NUMBERS.map((number) =>
  Object.values(NUMBERED).map(({ env }) => env.replace('REMOTE_1_', `REMOTE_${number}_`)),
);

export interface Remote {
  readonly kind: RemoteKind;
  readonly settings: RemoteSettings;
}

/** The services whose address is configured, by the names of their engines. */
export type Remotes = Readonly<Record<string, Remote>>;

/** Errors: `ConfigError`. */
function readRemote(kind: RemoteKind, prefix: string, env: Env): RemoteSettings | undefined {
  const row = KINDS[kind];
  const table = tableOf(prefix, row);
  const { urls, ...values } = readTable(table, env);
  if (urls === undefined) return undefined;
  const without = row.lacks.map((name) => table[name].env).find((name) => env[name]);
  if (without !== undefined) throw new ConfigError(`${without} has no effect on the engine "${kind}"`);
  if (row.rates?.includes(values.rate) === false)
    throw new ConfigError(`${table.rate.env} must be one of ${row.rates.join(', ')}`);
  return {
    ...values,
    liveModel: values.liveModel === 'none' ? undefined : values.liveModel,
    urls,
    ...(row.keyAs && { keyAs: row.keyAs }),
    // For log and `/health`.
    urlSetting: table.urls.env,
    keySetting: table.key.env,
    modelSettings: {
      voice: table[row.lacks.includes('ttsModel') ? 'voices' : 'ttsModel'].env,
      recogniser: table.sttModel.env,
    },
  };
}

function readNumbered(number: number, env: Env): readonly [string, Remote][] {
  const { kind, name } = readTable(ownTable(number), env);
  const settings = readRemote(kind, `REMOTE_${number}`, env);
  const engine = `${kind}/${name}`;
  return settings ? [[engine, { kind, settings: { ...settings, engine } }]] : [];
}

/** Errors: `ConfigError`, also for two of the same name. */
export function readRemotes(env: Env): Remotes {
  const single = REMOTE_KINDS.flatMap((kind): [string, Remote][] => {
    const settings = readRemote(kind, KINDS[kind].prefix, env);
    return settings ? [[kind, { kind, settings }]] : [];
  });
  const numbered = NUMBERS.flatMap((number) => readNumbered(number, env));
  const names = numbered.map(([engine]) => engine);
  const twice = names.find((engine, at) => names.indexOf(engine) < at);
  if (twice !== undefined) throw new ConfigError(`Two services are named ${twice}; see REMOTE_1_NAME`);
  return Object.fromEntries([...single, ...numbered]);
}

/** The setting that gives the first service of the kind an address. */
export const urlSettingOf = (kind: RemoteKind): string => `${KINDS[kind].prefix}_URL`;
