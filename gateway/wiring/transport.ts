/**
 * The transport of one gateway's sessions, wired: embedded, where clients join here and media workers carry their calls,
 * or livekit, where agents join rooms of a cluster. What happens in a conversation is the same in both.
 */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import type { Admission } from '../../contracts/ports/identity.js';
import type { Speech, Transcription } from '../../contracts/ports/speech.js';
import type { SessionTransport } from '../../contracts/ports/transport.js';
import type { TurnListening } from '../../contracts/ports/turns.js';
import { createBuiltinDialogue } from '../../engines/chat/builtin/index.js';
import type { TurnModelInChild } from '../../engines/turns/model-in-child.js';
import { createEmbeddedCalls } from '../../media/embedded/calls.js';
import { createRoomCalls } from '../../media/livekit/calls.js';
import { serveJobs } from '../../processes/serve-jobs.js';
import type { Children } from './children.js';
import type { Config, LivekitServer } from '../config.js';
import { clusterDialect, mediaDialect } from '../calls/signalling.js';
import { CallMetrics } from '../calls/call-metrics.js';
import { EmbeddedCalls } from '../calls/embedded.js';
import { LivekitCalls } from '../calls/livekit.js';
import type { CallParts } from '../calls/owned-call.js';
import { createJoinTokens } from '../calls/join-tokens.js';
import { languageModel } from './language-model.js';
import type { openPlatform } from './platform.js';
import type { HeldRecordings } from '../recordings/recordings.js';
import type { Metrics } from '../server/metrics.js';
import type { Dialect } from '../server/port.js';
import type { OpenSessions } from './sessions.js';
import { createSignalRelay, RELAYED, relayedSignals } from '../calls/signal-relay.js';

export interface TransportOptions {
  readonly config: Config;
  readonly children: Pick<Children, 'pool'>;
  readonly sessions: Pick<OpenSessions, 'runs'>;
  readonly platform: Awaited<ReturnType<typeof openPlatform>>;
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly turns:
    { readonly detector: TurnListening['detector']; readonly model: TurnModelInChild } | undefined;
  readonly recordings: Pick<HeldRecordings, 'began'>;
  readonly admission: Pick<Admission, 'use'>;
  /** Where this process takes signalling frames of its sessions from others. */
  readonly address: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenTransport extends SessionTransport {
  readonly dialect: Dialect;
  addMetrics(metrics: Metrics): void;
  /** Takes no new conversations, and ends those that are left `until` then. */
  stop(until: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** The parts that every call works with. */
function callParts(
  { config, sessions, platform, ...rest }: TransportOptions,
  metrics: CallMetrics,
): CallParts {
  const chat = languageModel(config) ?? createBuiltinDialogue();
  rest.log.info({ model: chat.name }, 'agents think with');
  return {
    ...rest,
    metrics,
    carrier: config.livekit ? 'livekit' : 'embedded',
    chat,
    tokens: platform.tokens,
    runs: sessions.runs,
    knowledge: platform.knowledge,
    outbound: platform.outbound,
    credentials: platform.tools,
    mcp: platform.mcp,
    agents: platform.versions,
  };
}

async function embedded(options: TransportOptions): Promise<OpenTransport> {
  const { children, sessions, platform, recordings, address, clock, log } = options;
  const { runs } = sessions;
  const secret = Buffer.from(platform.secrets.key('join tokens')).toString('hex');
  const joinTokens = createJoinTokens({ id: 'gateway', secret }, clock);
  const metrics = new CallMetrics(recordings.began, options.turns?.model.answers);
  const media = createEmbeddedCalls(children.pool('media'), metrics);
  const calls = new EmbeddedCalls({ ...callParts(options, metrics), calls: media, joinTokens });
  const handlers = relayedSignals(calls);
  const signals = await serveJobs({ socketPath: address, handlers, slots: RELAYED, log });
  return {
    url: undefined,
    joinTokens,
    prepare: () => Promise.resolve(),
    addMetrics: (page) => metrics.addTo(page),
    dialect: mediaDialect({ joinTokens, runs, calls, relay: createSignalRelay(log) }),
    stop: (until) => calls.stop(until),
    close: () => signals.close(0),
  };
}

function livekit(server: LivekitServer, options: TransportOptions): OpenTransport {
  const { children, sessions, recordings, clock, log } = options;
  const { runs } = sessions;
  const metrics = new CallMetrics(recordings.began, options.turns?.model.answers);
  const { recorded, counted } = metrics;
  const rooms = createRoomCalls({ rooms: children.pool('room'), server, recorded, counted, log });
  const { roomProcesses, roomsPerProcess, workers } = options.config;
  const places = (roomProcesses * roomsPerProcess) / workers;
  const calls = new LivekitCalls({ ...callParts(options, metrics), calls: rooms, places });
  return {
    url: server.url,
    joinTokens: createJoinTokens({ id: server.key, secret: server.secret }, clock),
    prepare: (session) => calls.begin(session),
    addMetrics: (page) => metrics.addTo(page),
    dialect: clusterDialect({ server, runs, calls: rooms, log }),
    stop: (until) => calls.stop(until),
    close: () => Promise.resolve(),
  };
}

export async function openTransport(options: TransportOptions): Promise<OpenTransport> {
  const { livekit: server } = options.config;
  return server ? livekit(server, options) : embedded(options);
}
