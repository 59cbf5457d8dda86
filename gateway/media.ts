/**
 * Conversations of one gateway, wired: the calls on the media workers, the language model, and what their agents hear
 * with, speak with and call.
 */
import type { Clock } from '../contracts/clock.js';
import type { Log } from '../contracts/log.js';
import type { Admission } from '../contracts/ports/identity.js';
import type { JobRunner } from '../contracts/ports/jobs.js';
import type { Speech, Transcription } from '../contracts/ports/speech.js';
import { createBuiltinDialogue } from '../engines/chat/builtin/index.js';
import { createEmbeddedCalls } from '../media/embedded/calls.js';
import type { RoomNetwork } from '../media/embedded/room.js';
import type { Config } from './config.js';
import { createConversations, type HeldConversations } from './conversations/index.js';
import { languageModel } from './language-model.js';
import type { openPlatform } from './platform.js';
import { type HeldRecordings, recordingsFolder } from './recordings.js';
import type { OpenSessions } from './sessions.js';

/** What a media worker is told, as JSON in its environment. */
export interface MediaSettings extends Omit<RoomNetwork, 'port'> {
  /** UDP, of the first worker; each has one. 0: whichever is free. */
  readonly basePort: number;
  /** Of the Opus encoder, 0 to 10. */
  readonly complexity: number;
  /** How voice is told from silence: tones are none to a model of voices. */
  readonly detector: 'voices' | 'loudness';
  /** The folder of recordings. */
  readonly recordings: string;
}

/** Recognisers that hear tones. */
const hearsTones = ({ sttEngines }: Config): boolean => sttEngines.every((name) => name === 'tone');

export function mediaSettings(config: Config): string {
  const { mediaHost, mediaUdpPort, mediaPublicAddress, mediaOpusComplexity, iceServers } = config;
  const settings: MediaSettings = {
    ...(mediaHost !== undefined && { bind: mediaHost }),
    ...(mediaPublicAddress !== undefined && { publicAddress: mediaPublicAddress }),
    basePort: mediaUdpPort,
    complexity: mediaOpusComplexity,
    clientIceServers: iceServers,
    iceServers: [],
    detector: hearsTones(config) ? 'loudness' : 'voices',
    recordings: recordingsFolder(config.dataDir),
  };
  return JSON.stringify(settings);
}

export interface ConversationOptions {
  readonly config: Config;
  readonly media: JobRunner;
  readonly sessions: Pick<OpenSessions, 'runs' | 'joinTokens'>;
  readonly platform: Awaited<ReturnType<typeof openPlatform>>;
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly recordings: Pick<HeldRecordings, 'began'>;
  readonly admission: Pick<Admission, 'use'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function openConversations(options: ConversationOptions): HeldConversations {
  const { config, media, sessions, platform, recordings, ...rest } = options;
  const chat = languageModel(config) ?? createBuiltinDialogue();
  options.log.info({ model: chat.name }, 'agents think with');
  return createConversations({
    ...rest,
    ...sessions,
    chat,
    calls: createEmbeddedCalls(media, recordings.began),
    knowledge: platform.knowledge,
    outbound: platform.outbound,
    credentials: platform.tools,
  });
}
