/** Settings of the processes that carry media, as JSON in their environment: media workers, or room workers. */
import type { RoomNetwork } from '../../../media/embedded/room.js';
import type { Config } from '../../config.js';
import { recordingsFolder } from '../recordings/folder-store.js';

interface Carrying {
  /** Complexity of the Opus encoder, 0 to 10. */
  readonly complexity: number;
  /** How voice is told from silence: a model of voices takes tones for silence. */
  readonly detector: 'voices' | 'loudness';
  readonly recordings: string;
}

/** `MEDIA`. */
export interface MediaSettings extends Carrying, Omit<RoomNetwork, 'port' | 'relayed'> {
  /** UDP port of the first worker; each has its own. 0: any free port. */
  readonly basePort: number;
  /** The same for clients that come by TURN over TCP or TLS; absent without such a server. */
  readonly relayedBase?: number;
}

/** `ROOMS`. */
export interface RoomSettings extends Carrying {
  /** Most rooms at once. */
  readonly slots: number;
  /** Number of rooms after which a process asks to be replaced. */
  readonly retireAfter: number;
}

const hearsTones = ({ sttEngines }: Config): boolean => sttEngines.every((name) => name === 'tone');

const carrying = (config: Config): Carrying => ({
  complexity: config.mediaOpusComplexity,
  detector: hearsTones(config) ? 'loudness' : 'voices',
  recordings: recordingsFolder(config.dataDir),
});

/** Whether clients may come by TURN over TCP or TLS. */
const isRelayed = ({ iceServers }: Pick<Config, 'iceServers'>): boolean =>
  iceServers.some(({ urls }) => urls.some((url) => /^turns:|^turn:.*[?&]transport=tcp/i.test(url)));

/** Number of UDP ports of all media workers, from `MEDIA_UDP_PORT` on. */
export const mediaPorts = (config: Pick<Config, 'mediaProcesses' | 'iceServers'>): number =>
  config.mediaProcesses * (isRelayed(config) ? 2 : 1);

export function mediaSettings(config: Config): string {
  const { mediaHost, mediaUdpPort, mediaProcesses, mediaPublicAddress, iceServers } = config;
  const settings: MediaSettings = {
    ...carrying(config),
    ...(mediaHost !== undefined && { bind: mediaHost }),
    ...(mediaPublicAddress !== undefined && { publicAddress: mediaPublicAddress }),
    basePort: mediaUdpPort,
    ...(isRelayed(config) && { relayedBase: mediaUdpPort === 0 ? 0 : mediaUdpPort + mediaProcesses }),
    clientIceServers: iceServers,
    iceServers: [],
  };
  return JSON.stringify(settings);
}

export function roomSettings(config: Config): string {
  const { roomsPerProcess: slots, roomsUntilRestart: retireAfter } = config;
  const settings: RoomSettings = { ...carrying(config), slots, retireAfter };
  return JSON.stringify(settings);
}
