/** The children that the supervisor keeps, one row a role: what runs, how many, how nice. */
import type { Config } from './config.js';

export interface RoleRow {
  /** The file below workers/. */
  readonly worker: string;
  count(config: Config): number;
  /** Added to the niceness: gateways go first. */
  readonly nice: number;
  /** Of its environment, where the operator does not say otherwise. */
  readonly env?: Readonly<Record<string, string>>;
}

const BEHIND_GATEWAYS = 10;
/**
 * With an arena a thread, glibc scatters what the WebRTC library's threads allocate and free a call, and gives little of
 * it back: 11 to 28 KiB a call stayed (measured), with one arena 0 to 3, at the same number of calls a core.
 */
const ONE_ARENA = { MALLOC_ARENA_MAX: '1' };

export const ROLES = {
  encode: { worker: 'encode', nice: BEHIND_GATEWAYS, count: (config) => config.encodeProcesses },
  tts: { worker: 'speech', nice: BEHIND_GATEWAYS, count: (config) => config.ttsProcesses },
  /** GPL code stays in a process of its own. */
  espeak: { worker: 'espeak', nice: BEHIND_GATEWAYS, count: (config) => config.ttsProcesses },
  stt: { worker: 'speech', nice: BEHIND_GATEWAYS, count: (config) => config.sttProcesses },
  /** Calls are paced by the clock: they wait for nobody. */
  media: { worker: 'media', nice: 0, count: (config) => config.mediaProcesses, env: ONE_ARENA },
  /** Agents in rooms of a LiveKit cluster: the native library leaks, so they come and go (transport.md). */
  room: { worker: 'room', nice: 0, count: (config) => config.roomProcesses },
  /** An operator's own models: what they do to their process is nobody else's. */
  'sherpa-tts': { worker: 'sherpa', nice: BEHIND_GATEWAYS, count: (config) => config.ttsProcesses },
  'sherpa-stt': { worker: 'sherpa', nice: BEHIND_GATEWAYS, count: (config) => config.sttProcesses },
} as const satisfies Record<string, RoleRow>;

export type RoleName = keyof typeof ROLES;

/** The Unix sockets of each running role's children. */
export type RoleSockets = Readonly<Partial<Record<RoleName, readonly string[]>>>;
