/**
 * The whole configuration as one table of environment variables, read once at start. A value that does
 * not parse stops the start with a line that names it.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LANGUAGES, type Language } from '../contracts/languages.js';
import { LIMITS } from '../contracts/limits.js';
import { SYNTHESIS_MODELS, TRANSCRIPTION_MODELS } from '../contracts/models.js';
import { defaultVocabulary, type Vocabulary } from '../contracts/vocabulary.js';
import { ESPEAK_PACKAGES } from '../engines/backends/espeak/description.js';
import type { RemoteFormat } from '../engines/backends/remote/audio.js';
import type { RemoteSettings } from '../engines/backends/remote/settings.js';
import type { ModelRoutes } from '../engines/registry.js';
import { notInstalled } from './installed.js';

type Env = Readonly<Record<string, string | undefined>>;

interface Setting<T> {
  readonly env: string;
  readonly initial: T;
  parse(raw: string): T;
}

export class ConfigError extends Error {}

const fail = (env: string, wanted: string): never => {
  throw new ConfigError(`${env} must be ${wanted}`);
};

const text = <T extends string | undefined>(env: string, initial: T): Setting<T> => ({
  env,
  initial,
  parse: (raw) => raw as T,
});

const count = (env: string, initial: number, min: number, max: number): Setting<number> => ({
  env,
  initial,
  parse(raw) {
    const value = Number(raw);
    const fits = Number.isInteger(value) && value >= min && value <= max;
    return fits ? value : fail(env, `a whole number from ${min} to ${max}`);
  },
});

const optionalCount = (env: string): Setting<number | undefined> => ({
  env,
  initial: undefined,
  parse: count(env, 0, 0, Number.MAX_SAFE_INTEGER).parse,
});

const choice = <T extends string>(env: string, initial: T, values: readonly T[]): Setting<T> => ({
  env,
  initial,
  parse: (raw) => values.find((value) => value === raw) ?? fail(env, `one of ${values.join(', ')}`),
});

const list = (env: string, initial: readonly string[]): Setting<readonly string[]> => ({
  env,
  initial,
  parse: (raw) =>
    raw
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
});

const languages = <T extends readonly Language[] | undefined>(
  env: string,
  initial: T,
): Setting<T | readonly Language[]> => ({
  env,
  initial,
  parse: (raw) =>
    list(env, [])
      .parse(raw)
      .map(
        (code) =>
          LANGUAGES.find((known) => known === code) ?? fail(env, `codes out of ${LANGUAGES.join(', ')}`),
      ),
});

const address = (env: string): Setting<string | undefined> => ({
  env,
  initial: undefined,
  parse: (raw) => (/^https?:\/\/[^/]+/.test(raw) ? raw.replace(/\/+$/, '') : fail(env, 'an http(s) address')),
});

const socketAddress = (env: string): Setting<string | undefined> => ({
  env,
  initial: undefined,
  parse: (raw) => (/^wss?:\/\/[^/]+/.test(raw) ? raw.replace(/\/+$/, '') : fail(env, 'a ws(s) address')),
});

const ROUTED = new Set<string>([...SYNTHESIS_MODELS, ...TRANSCRIPTION_MODELS, '*']);

const isRoute = ([model, names]: [string, unknown]): boolean =>
  ROUTED.has(model) && Array.isArray(names) && names.every((name) => typeof name === 'string');

function parseRoutes(raw: string): ModelRoutes {
  try {
    const routes: unknown = JSON.parse(raw);
    const isTable = typeof routes === 'object' && routes !== null && !Array.isArray(routes);
    if (isTable && Object.entries(routes).every(isRoute)) return routes;
  } catch {
    // falls through to the one message
  }
  return fail('MODEL_ROUTES', 'a JSON object of model id to a list of engine names');
}

/** STUN and TURN servers as clients take them. */
export interface IceServer {
  readonly urls: readonly string[];
  readonly username?: string;
  readonly credential?: string;
}

const isIceServer = (server: unknown): server is IceServer => {
  const { urls } = (server ?? {}) as { urls?: unknown };
  return Array.isArray(urls) && urls.every((url) => /^(stun|turns?):/.test(String(url)));
};

function parseIceServers(raw: string): readonly IceServer[] {
  try {
    const servers: unknown = JSON.parse(raw);
    if (Array.isArray(servers) && servers.every(isIceServer)) return servers;
  } catch {
    // falls through to the one message
  }
  return fail('ICE_SERVERS', 'a JSON list of {"urls":["stun:…"]}');
}

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** English is spoken by flite; the other languages where the optional packages are installed. */
const DEFAULT_TTS_ENGINES = notInstalled(ESPEAK_PACKAGES).length === 0 ? ['flite', 'espeak'] : ['flite'];

const SETTINGS = {
  host: text('HOST', '0.0.0.0' as string),
  port: count('PORT', 8080, 0, 65_535),
  publicUrl: address('PUBLIC_URL'),
  trustedProxies: list('TRUSTED_PROXIES', []),
  httpStack: choice('HTTP_STACK', 'uws', ['uws', 'node']),
  tlsCert: text('TLS_CERT', undefined as string | undefined),
  tlsKey: text('TLS_KEY', undefined as string | undefined),
  workers: count('WORKERS', 1, 1, 64),
  dataDir: text('DATA_DIR', './data' as string),
  databaseUrl: text('DATABASE_URL', undefined as string | undefined),
  apiKey: text('API_KEY', undefined as string | undefined),
  outboundAllow: list('OUTBOUND_ALLOW', []),
  secretsKey: text('SECRETS_KEY', undefined as string | undefined),
  concurrency: count('CONCURRENCY', LIMITS.workspace.concurrency, 1, 1_000_000),
  quotaCharacters: optionalCount('QUOTA_SYNTHESIS_CHARACTERS'),
  quotaTranscriptionSeconds: optionalCount('QUOTA_TRANSCRIPTION_SECONDS'),
  quotaConversationSeconds: optionalCount('QUOTA_CONVERSATION_SECONDS'),
  publicSessionsPerAddress: count('PUBLIC_SESSIONS_PER_IP', LIMITS.session.publicPerMinute.ip, 0, 1_000_000),
  publicSessionsPerAgent: count(
    'PUBLIC_SESSIONS_PER_AGENT',
    LIMITS.session.publicPerMinute.agent,
    0,
    1_000_000,
  ),
  ttsEngines: list('TTS_ENGINES', DEFAULT_TTS_ENGINES),
  sttEngines: list('STT_ENGINES', ['moonshine']),
  modelRoutes: { env: 'MODEL_ROUTES', initial: {}, parse: parseRoutes } as Setting<ModelRoutes>,
  ttsProcesses: count('TTS_PROCESSES', 1, 1, 64),
  sttProcesses: count('STT_PROCESSES', 1, 1, 64),
  encodeProcesses: count('ENCODE_PROCESSES', 1, 1, 64),
  sherpaTts: text('SHERPA_TTS', undefined as string | undefined),
  sherpaTtsLanguages: languages('SHERPA_TTS_LANGUAGES', undefined),
  sherpaStt: text('SHERPA_STT', undefined as string | undefined),
  sherpaSttLanguages: languages('SHERPA_STT_LANGUAGES', undefined),
  mediaProcesses: count('MEDIA_PROCESSES', 1, 1, 64),
  mediaHost: text('MEDIA_HOST', undefined as string | undefined),
  mediaUdpPort: count('MEDIA_UDP_PORT', 7882, 0, 65_535),
  mediaPublicAddress: text('MEDIA_PUBLIC_ADDRESS', undefined as string | undefined),
  mediaOpusComplexity: count('MEDIA_OPUS_COMPLEXITY', 5, 0, 10),
  recordingDays: count('RECORDING_DAYS', 0, 0, 36_500),
  iceServers: { env: 'ICE_SERVERS', initial: [], parse: parseIceServers } as Setting<readonly IceServer[]>,
  roomProcesses: count('LIVEKIT_ROOM_PROCESSES', 2, 1, 64),
  roomsPerProcess: count('LIVEKIT_ROOMS_PER_PROCESS', 10, 1, 100),
  roomsUntilRestart: count('LIVEKIT_ROOMS_UNTIL_RESTART', 100, 1, 1_000_000),
  llmUrl: address('LLM_BASE_URL'),
  llmKey: text('LLM_API_KEY', undefined as string | undefined),
  llmModel: text('LLM_MODEL', 'default' as string),
  modelsDir: text('MODELS_DIR', resolve(REPOSITORY, '.models')),
  ffmpegPath: text('FFMPEG_PATH', undefined as string | undefined),
  logLevel: choice('LOG_LEVEL', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
};

/** The variables of one remote speech service. */
const remote = (
  prefix: string,
  initial: Pick<RemoteSettings, 'ttsModel' | 'sttModel' | 'voices' | 'rate'>,
) => ({
  url: address(`${prefix}_URL`),
  key: text(`${prefix}_KEY`, undefined as string | undefined),
  ttsModel: text(`${prefix}_TTS_MODEL`, initial.ttsModel),
  sttModel: text(`${prefix}_STT_MODEL`, initial.sttModel),
  voices: list(`${prefix}_VOICES`, initial.voices),
  languages: languages(`${prefix}_LANGUAGES`, LANGUAGES),
  format: choice<RemoteFormat>(`${prefix}_FORMAT`, 'pcm', ['pcm', 'wav']),
  rate: count(`${prefix}_RATE`, initial.rate, 8000, 48_000),
});

const REMOTES = {
  openai: remote('REMOTE_OPENAI', {
    ttsModel: 'tts-1',
    sttModel: 'whisper-1',
    voices: ['alloy'],
    rate: 24_000,
  }),
  native: remote('REMOTE_NATIVE', {
    ttsModel: 's2.1-pro',
    sttModel: 'transcribe-1',
    voices: ['default'],
    rate: 44_100,
  }),
};

export type RemoteName = keyof typeof REMOTES;

/** A LiveKit server or cluster that sessions are held on instead of here. */
export interface LivekitServer {
  /** `wss://…`, for agents, clients and the room service alike. */
  readonly url: string;
  readonly key: string;
  readonly secret: string;
}

/** All of them, or none. */
const LIVEKIT = {
  url: socketAddress('LIVEKIT_URL'),
  key: text('LIVEKIT_API_KEY', undefined as string | undefined),
  secret: text('LIVEKIT_API_SECRET', undefined as string | undefined),
};

type Settings = { readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name]['initial'] };

/** Names of the variables that rename the vendor words (contracts/vocabulary.ts). */
const VOCABULARY: Record<keyof Vocabulary, string> = {
  vendor: 'VENDOR',
  headerPrefix: 'VENDOR_HEADER_PREFIX',
  providerName: 'VENDOR_PROVIDER_NAME',
  transport: 'VENDOR_TRANSPORT',
  transportUrlField: 'VENDOR_TRANSPORT_URL_FIELD',
  protocolASegment: 'PROTOCOL_A_SEGMENT',
  protocolBSegment: 'PROTOCOL_B_SEGMENT',
  protocolBKeyHeader: 'PROTOCOL_B_KEY_HEADER',
};

export interface Config extends Settings {
  readonly vocabulary: Vocabulary;
  /** Those whose address is told. */
  readonly remotes: Readonly<Partial<Record<RemoteName, RemoteSettings>>>;
  readonly livekit: LivekitServer | undefined;
}

/** Every variable that the gateway reads, for the README's test. */
export const CONFIG_VARIABLES: readonly string[] = [
  ...Object.values(SETTINGS).map(({ env }) => env),
  ...Object.values(LIVEKIT).map(({ env }) => env),
  ...Object.values(VOCABULARY),
  ...Object.values(REMOTES).flatMap((settings) => Object.values(settings).map(({ env }) => env)),
];

function readVocabulary(env: Env): Vocabulary {
  const words = Object.entries(VOCABULARY).map(([word, name]) => [
    word,
    env[name] || defaultVocabulary[word as keyof Vocabulary],
  ]);
  return Object.fromEntries(words) as unknown as Vocabulary;
}

const valueOf = <T>(setting: Setting<T>, env: Env): T => {
  const raw = env[setting.env];
  return raw === undefined || raw === '' ? setting.initial : setting.parse(raw);
};

function readRemotes(env: Env): Config['remotes'] {
  const read = Object.entries(REMOTES).map(([name, settings]): [string, Partial<RemoteSettings>] => [
    name,
    Object.fromEntries(
      Object.entries(settings).map(([key, setting]) => [key, valueOf(setting as Setting<unknown>, env)]),
    ),
  ]);
  return Object.fromEntries(read.filter(([, { url }]) => url !== undefined)) as Config['remotes'];
}

function readLivekit(env: Env): LivekitServer | undefined {
  const { url, key, secret } = LIVEKIT;
  const read = { url: valueOf(url, env), key: valueOf(key, env), secret: valueOf(secret, env) };
  const given = Object.values(read).filter((value) => value !== undefined).length;
  if (given === 0) return undefined;
  if (given < 3) throw new ConfigError('LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET go together');
  return read as LivekitServer;
}

/** Errors: `ConfigError` naming the variable. */
export function readConfig(env: Env): Config {
  const entries = Object.entries(SETTINGS).map(([name, setting]) => [
    name,
    valueOf(setting as Setting<unknown>, env),
  ]);
  const settings = Object.fromEntries(entries) as Settings;
  if ((settings.tlsCert === undefined) !== (settings.tlsKey === undefined)) {
    throw new ConfigError('TLS_CERT and TLS_KEY go together');
  }
  return {
    ...settings,
    dataDir: resolve(settings.dataDir),
    vocabulary: readVocabulary(env),
    remotes: readRemotes(env),
    livekit: readLivekit(env),
  };
}
