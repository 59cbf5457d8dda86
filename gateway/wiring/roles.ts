/** The supervisor's children, one row per role: program, count, niceness, environment. */
import type { Config } from '../config.js';
import { mediaSettings, roomSettings } from '../agents/calls/media-settings.js';

type Env = Readonly<Record<string, string | undefined>>;

export interface RoleRow {
  /** The file below workers/. */
  readonly worker: string;
  count(config: Config): number;
  /** Added to the niceness: gateways go first. */
  readonly nice: number;
  /** Default variables; the operator's values win. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables of the operator that it gets, besides those of `EVERYWHERE`. */
  readonly variables?: readonly string[];
  /** The gateway works without it: `/health` ignores it. */
  readonly spared?: true;
  /** Settings of the configuration that it gets, as variables. */
  settings?(config: Config): Env;
  /** Folders and files of models that it reads: with others it gets other children. */
  models?(config: Config): readonly string[];
}

/** Variables for every child: paths of programs, libraries and temporary files, and options of the runtime. None is secret. */
const EVERYWHERE = [
  ...['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH'],
  ...['NODE_OPTIONS', 'UV_THREADPOOL_SIZE', 'MALLOC_ARENA_MAX', 'OMP_NUM_THREADS'],
];
/** Further variables for roles that open network connections. */
const NETWORK = [
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

const models = ({ modelsDir: MODELS_DIR }: Config): Env => ({ MODELS_DIR });

const given = (place: string | undefined): readonly string[] => (place === undefined ? [] : [place]);

const BEHIND_GATEWAYS = 10;
/**
 * With one arena per thread, glibc scatters the per-call allocations of the WebRTC library's threads, and returns little of
 * that memory: 11 to 28 KiB a call stayed (measured), with a single arena 0 to 3, at the same number of calls a core.
 */
const ONE_ARENA = { MALLOC_ARENA_MAX: '1' };

/**
 * Unused models are unloaded: their memory has to go back to the system, not into a heap that
 * fragments. Three Piper voices in turn, one loaded at a time: 180 MB, as with a single voice, instead of 210.
 */
const RETURNED_MEMORY = { ...ONE_ARENA, MALLOC_MMAP_THRESHOLD_: '131072' };

export const ROLES = {
  encode: { worker: 'encode', nice: BEHIND_GATEWAYS, count: (config) => config.encodeProcesses },
  tts: {
    worker: 'speech',
    nice: BEHIND_GATEWAYS,
    count: (config) => config.ttsProcesses,
    settings: ({ pico }) => ({ PICO_LINGWARE: pico }),
    models: ({ pico }) => given(pico),
  },
  /** GPL code stays in a process of its own. */
  espeak: { worker: 'espeak', nice: BEHIND_GATEWAYS, count: (config) => config.ttsProcesses },
  stt: {
    worker: 'speech',
    nice: BEHIND_GATEWAYS,
    count: (config) => config.sttProcesses,
    env: ONE_ARENA,
    settings: models,
  },
  /** The audio model for end-of-turn detection. */
  turns: {
    worker: 'turns',
    nice: BEHIND_GATEWAYS,
    count: () => 1,
    env: ONE_ARENA,
    spared: true,
    settings: ({ turns }) => ({ TURN_MODEL: turns?.folder }),
    models: ({ turns }) => given(turns?.folder),
  },
  /** Noise reduction of users' speech. */
  denoise: {
    worker: 'denoise',
    nice: BEHIND_GATEWAYS,
    count: () => 1,
    env: ONE_ARENA,
    spared: true,
    settings: ({ denoiser }) => ({ DENOISER: denoiser }),
    models: ({ denoiser }) => given(denoiser),
  },
  /** Not niced: calls are paced by the clock. */
  media: {
    worker: 'media',
    nice: 0,
    count: (config) => config.mediaProcesses,
    env: ONE_ARENA,
    settings: (config) => ({ ...models(config), MEDIA: mediaSettings(config) }),
  },
  /** Agents in rooms of a LiveKit cluster. The native library leaks, so these children are recycled (docs/contract/transport.md). */
  room: {
    worker: 'room',
    nice: 0,
    count: (config) => config.roomProcesses,
    variables: NETWORK,
    settings: (config) => ({ ...models(config), ROOMS: roomSettings(config) }),
  },
  /** The operator's own models, isolated in case they crash. */
  'sherpa-tts': {
    worker: 'sherpa',
    nice: BEHIND_GATEWAYS,
    count: (config) => config.ttsProcesses,
    env: RETURNED_MEMORY,
    variables: ['SHERPA_TTS_LANGUAGES', 'SHERPA_MEMORY_MB'],
    models: (config) => config.models.tts,
    settings: (config) => ({
      ...models(config),
      DATA_DIR: config.dataDir,
      SHERPA_TTS: config.models.tts.join(','),
    }),
  },
  'sherpa-stt': {
    worker: 'sherpa',
    nice: BEHIND_GATEWAYS,
    count: (config) => config.sttProcesses,
    env: RETURNED_MEMORY,
    variables: ['SHERPA_STT_LANGUAGES', 'SHERPA_MEMORY_MB'],
    settings: (config) => ({ ...models(config), SHERPA_STT: config.models.stt.join(',') }),
    models: (config) => config.models.stt,
  },
} as const satisfies Record<string, RoleRow>;

/** The whole environment of a child. */
export function environmentOf(row: RoleRow, config: Config, env: Env = process.env): NodeJS.ProcessEnv {
  const names = [...EVERYWHERE, ...(row.variables ?? [])];
  const passed = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...row.env, ...Object.fromEntries(passed), ...row.settings?.(config) };
}

export type RoleName = keyof typeof ROLES;

/** The Unix sockets of each running role's children. */
export type RoleSockets = Readonly<Partial<Record<RoleName, readonly string[]>>>;
