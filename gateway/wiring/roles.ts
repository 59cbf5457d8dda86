/** The children that the supervisor keeps, one row a role: what runs, how many, how nice, what of the environment it gets. */
import type { Config } from '../config.js';
import { mediaSettings, roomSettings } from '../calls/media-settings.js';

type Env = Readonly<Record<string, string | undefined>>;

export interface RoleRow {
  /** The file below workers/. */
  readonly worker: string;
  count(config: Config): number;
  /** Added to the niceness: gateways go first. */
  readonly nice: number;
  /** Variables that it has where the operator does not say otherwise. */
  readonly env?: Readonly<Record<string, string>>;
  /** The operator's variables that it gets, besides those of `EVERYWHERE`. */
  readonly variables?: readonly string[];
  /** Whatever it does is made do without: `/health` does not look at it. */
  readonly spared?: true;
  /** Settings of the configuration that it gets, as variables. */
  settings?(config: Config): Env;
}

/** Where programs, libraries and temporary files are, and how the runtime behaves. No child gets any secret by these. */
const EVERYWHERE = [
  ...['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH'],
  ...['NODE_OPTIONS', 'UV_THREADPOOL_SIZE', 'MALLOC_ARENA_MAX', 'OMP_NUM_THREADS'],
];
/** Variables of a role that connects to somewhere. */
const NETWORK = [
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

const models = ({ modelsDir: MODELS_DIR }: Config): Env => ({ MODELS_DIR });

const BEHIND_GATEWAYS = 10;
/**
 * With an arena a thread, glibc scatters what the WebRTC library's threads allocate and free a call, and gives little of
 * it back: 11 to 28 KiB a call stayed (measured), with one arena 0 to 3, at the same number of calls a core.
 */
const ONE_ARENA = { MALLOC_ARENA_MAX: '1' };

/**
 * Models leave memory as they are not used: what they were loaded into has to go back to the system, not into a heap that
 * grows by its gaps. Three Piper voices by turns, one of them loaded at a time: 180 MB, as with one alone, instead of 210.
 */
const RETURNED_MEMORY = { ...ONE_ARENA, MALLOC_MMAP_THRESHOLD_: '131072' };

export const ROLES = {
  encode: { worker: 'encode', nice: BEHIND_GATEWAYS, count: (config) => config.encodeProcesses },
  tts: { worker: 'speech', nice: BEHIND_GATEWAYS, count: (config) => config.ttsProcesses },
  /** GPL code stays in a process of its own. */
  espeak: { worker: 'espeak', nice: BEHIND_GATEWAYS, count: (config) => config.ttsProcesses },
  stt: {
    worker: 'speech',
    nice: BEHIND_GATEWAYS,
    count: (config) => config.sttProcesses,
    env: ONE_ARENA,
    settings: models,
  },
  /** The model that hears ends of turns. */
  turns: {
    worker: 'turns',
    nice: BEHIND_GATEWAYS,
    count: () => 1,
    env: ONE_ARENA,
    spared: true,
    settings: ({ turns }) => ({ TURN_MODEL: turns?.folder }),
  },
  /** Takes noise out of what users say. */
  denoise: {
    worker: 'denoise',
    nice: BEHIND_GATEWAYS,
    count: () => 1,
    env: ONE_ARENA,
    spared: true,
    settings: ({ denoiser }) => ({ DENOISER: denoiser }),
  },
  /** Calls are paced by the clock: they wait for nobody. */
  media: {
    worker: 'media',
    nice: 0,
    count: (config) => config.mediaProcesses,
    env: ONE_ARENA,
    settings: (config) => ({ ...models(config), MEDIA: mediaSettings(config) }),
  },
  /** Agents in rooms of a LiveKit cluster: the native library leaks, so they come and go (docs/contract/transport.md). */
  room: {
    worker: 'room',
    nice: 0,
    count: (config) => config.roomProcesses,
    variables: NETWORK,
    settings: (config) => ({ ...models(config), ROOMS: roomSettings(config) }),
  },
  /** An operator's own models: what they do to their process is nobody else's. */
  'sherpa-tts': {
    worker: 'sherpa',
    nice: BEHIND_GATEWAYS,
    count: (config) => config.ttsProcesses,
    env: RETURNED_MEMORY,
    variables: ['SHERPA_TTS_LANGUAGES', 'SHERPA_MEMORY_MB'],
    settings: (config) => ({ ...models(config), SHERPA_TTS: config.models.tts.join(',') }),
  },
  'sherpa-stt': {
    worker: 'sherpa',
    nice: BEHIND_GATEWAYS,
    count: (config) => config.sttProcesses,
    env: RETURNED_MEMORY,
    variables: ['SHERPA_STT_LANGUAGES', 'SHERPA_MEMORY_MB'],
    settings: (config) => ({ ...models(config), SHERPA_STT: config.models.stt.join(',') }),
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
