/**
 * The transport of one gateway's sessions, wired: embedded, where clients join here and media workers carry their calls,
 * or livekit, where agents join rooms of a cluster. What happens in a conversation is the same in both.
 */
import type { Clock } from '../contracts/clock.js';
import type { Log } from '../contracts/log.js';
import type { CallObserver, FrameCounts } from '../contracts/ports/calls.js';
import type { Admission } from '../contracts/ports/identity.js';
import type { Speech, Transcription } from '../contracts/ports/speech.js';
import type { SessionTransport } from '../contracts/ports/transport.js';
import { createBuiltinDialogue } from '../engines/chat/builtin/index.js';
import { createEmbeddedCalls } from '../media/embedded/calls.js';
import { createRoomCalls } from '../media/livekit/calls.js';
import { serveJobs } from '../processes/serve-jobs.js';
import type { Children } from './children.js';
import type { Config, LivekitServer } from './config.js';
import { RoomConversations } from './conversations/in-rooms.js';
import { JoinedConversations } from './conversations/joined.js';
import { LiveConversations } from './conversations/live.js';
import { clusterDialect, mediaDialect } from './dialects/media/index.js';
import { createJoinTokens } from './join-tokens.js';
import { languageModel } from './language-model.js';
import type { openPlatform } from './platform.js';
import type { HeldRecordings } from './recordings.js';
import type { Metrics } from './server/metrics.js';
import type { Dialect } from './server/port.js';
import type { OpenSessions } from './sessions.js';
import { createSignalRelay, RELAYED, relayedSignals } from './signal-relay.js';

export interface TransportOptions {
  readonly config: Config;
  readonly children: Pick<Children, 'pool'>;
  readonly sessions: Pick<OpenSessions, 'runs'>;
  readonly platform: Awaited<ReturnType<typeof openPlatform>>;
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly recordings: Pick<HeldRecordings, 'began'>;
  readonly admission: Pick<Admission, 'use'>;
  /** Where this process takes signalling frames of its sessions from others. */
  readonly address: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenTransport extends SessionTransport {
  readonly dialect: Dialect;
  addGauges(metrics: Metrics): void;
  /** Takes no new conversations, and ends those that are left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

/** How well the agents of this process were heard, as far as that is ours. */
class CallFrames implements CallObserver {
  readonly #frames = { sent: 0, late: 0, lost: 0 };

  constructor(readonly recorded: CallObserver['recorded']) {}

  readonly counted = ({ sent, late, lost }: FrameCounts): void => {
    this.#frames.sent += sent;
    this.#frames.late += late;
    this.#frames.lost += lost;
  };

  addGauges(metrics: Metrics): void {
    const help = 'Frames of 20 ms of agents, in calls that have ended: sent, of them late; lost';
    const rows = () => Object.entries(this.#frames).map(([kind, value]) => ({ labels: { kind }, value }));
    metrics.gauge('call_frames', help, rows, ['kind']);
  }
}

function liveConversations({ config, sessions, platform, ...rest }: TransportOptions): LiveConversations {
  const chat = languageModel(config) ?? createBuiltinDialogue();
  rest.log.info({ model: chat.name }, 'agents think with');
  return new LiveConversations({
    ...rest,
    chat,
    runs: sessions.runs,
    knowledge: platform.knowledge,
    outbound: platform.outbound,
    credentials: platform.tools,
  });
}

async function embedded(options: TransportOptions): Promise<OpenTransport> {
  const { children, sessions, platform, recordings, address, clock, log } = options;
  const { runs } = sessions;
  const secret = Buffer.from(platform.secrets.key('join tokens')).toString('hex');
  const joinTokens = createJoinTokens({ id: 'gateway', secret }, clock);
  const frames = new CallFrames(recordings.began);
  const calls = createEmbeddedCalls(children.pool('media'), frames);
  const live = liveConversations(options);
  const conversations = new JoinedConversations(live, { calls, runs, joinTokens, clock, log });
  const handlers = relayedSignals(conversations);
  const signals = await serveJobs({ socketPath: address, handlers, slots: RELAYED, log });
  return {
    url: undefined,
    joinTokens,
    prepare: () => Promise.resolve(),
    addGauges: (metrics) => frames.addGauges(metrics),
    dialect: mediaDialect({ joinTokens, runs, conversations, relay: createSignalRelay(log) }),
    async stop(graceMs) {
      await live.stop(graceMs);
      await conversations.stop();
    },
    close: () => signals.close(0),
  };
}

function livekit(server: LivekitServer, options: TransportOptions): OpenTransport {
  const { children, sessions, recordings, clock, log } = options;
  const { runs } = sessions;
  const frames = new CallFrames(recordings.began);
  const { recorded, counted } = frames;
  const calls = createRoomCalls({ rooms: children.pool('room'), server, recorded, counted, log });
  const live = liveConversations(options);
  const { roomProcesses, roomsPerProcess, workers } = options.config;
  const places = (roomProcesses * roomsPerProcess) / workers;
  const conversations = new RoomConversations(live, { calls, runs, places });
  return {
    url: server.url,
    joinTokens: createJoinTokens({ id: server.key, secret: server.secret }, clock),
    prepare: (session) => conversations.begin(session),
    addGauges: (metrics) => frames.addGauges(metrics),
    dialect: clusterDialect({ server, runs, calls, log }),
    stop(graceMs) {
      conversations.leave();
      return live.stop(graceMs);
    },
    close: () => Promise.resolve(),
  };
}

export async function openTransport(options: TransportOptions): Promise<OpenTransport> {
  const { livekit: server } = options.config;
  return server ? livekit(server, options) : embedded(options);
}
