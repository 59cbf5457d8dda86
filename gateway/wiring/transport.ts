/**
 * Wires the transport of one gateway's sessions: embedded, where clients join here and media workers carry their calls,
 * or livekit, where agents join rooms of a cluster. Conversations are the same in both.
 */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import type { Admission } from '../../contracts/ports/identity.js';
import type { Secrets } from '../../contracts/ports/secrets.js';
import type { Speech, Transcription } from '../../contracts/ports/speech.js';
import type { PhoneDialling } from '../../contracts/ports/placed-calls.js';
import type { PhoneNumbers } from '../../contracts/ports/phone.js';
import type { NodeFigures } from '../../contracts/ports/nodes.js';
import type { SessionTransport } from '../../contracts/ports/transport.js';
import type { TurnListening } from '../../contracts/ports/turns.js';
import { createBuiltinDialogue } from '../../engines/chat/builtin/index.js';
import type { TurnModelInChild } from '../../engines/turns/model-in-child.js';
import { createCallerLines } from '../../media/embedded/caller/lines.js';
import { createEmbeddedCalls } from '../../media/embedded/calls.js';
import { createPhoneMedia } from '../../media/phone/calls.js';
import { AgentWorker } from '../../media/livekit/agent-worker.js';
import { createRoomCalls } from '../../media/livekit/calls.js';
import { createSipService } from '../../media/livekit/sip-service.js';
import { serveJobs } from '../../processes/serve-jobs.js';
import type { OwnNode } from '../../storage/nodes.js';
import type { Children } from './children.js';
import type { Config, LivekitServer } from '../config.js';
import { clusterDialect, mediaDialect } from '../calls/signalling.js';
import { CallMetrics } from '../calls/call-metrics.js';
import { EmbeddedCalls } from '../calls/embedded.js';
import { LivekitCalls } from '../calls/livekit.js';
import type { CallParts } from '../calls/owned-call.js';
import { createJoinTokens } from '../calls/join-tokens.js';
import type { TestCallParts } from '../calls/test-calls.js';
import { languageModel } from './language-model.js';
import type { openPlatform } from './platform.js';
import type { HeldRecordings } from '../recordings/recordings.js';
import type { Metrics } from '../server/system/metrics.js';
import type { Dialect } from '../server/port.js';
import type { OpenSessions } from './sessions.js';
import { RelayGate } from '../calls/node-claims.js';
import { PhoneCalls } from '../phone/phone-calls.js';
import { DIALLING, phoneDialect } from '../phone/index.js';
import { Placing } from '../phone/placing.js';
import { telephones } from '../phone/sip/answering.js';
import { SipDialling } from '../phone/sip/dialling.js';
import { SipNumbers, withoutSip } from '../phone/sip/numbers.js';
import { Transferring } from '../phone/transferring.js';
import { createStreamTokens } from '../phone/stream-tokens.js';
import { createNodeRelay } from '../calls/node-relay.js';
import { nodesDialect } from '../calls/nodes.js';
import { createSignalRelay, RELAYED, relayedSignals } from '../calls/signal-relay.js';

export interface TransportOptions {
  readonly config: Config;
  readonly children: Pick<Children, 'pool'>;
  readonly sessions: Pick<OpenSessions, 'runs' | 'phone'>;
  readonly platform: Awaited<ReturnType<typeof openPlatform>>;
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly turns:
    | { readonly detector: TurnListening['detector']; readonly model: TurnModelInChild }
    | undefined;
  readonly recordings: Pick<HeldRecordings, 'began'>;
  readonly admission: Pick<Admission, 'use'>;
  /** Socket on which other processes of the installation relay signalling frames of this process's sessions. */
  readonly address: string;
  readonly processId: string;
  readonly installation: string;
  readonly node: Pick<OwnNode, 'held' | 'list'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenTransport extends SessionTransport {
  readonly dialects: readonly Dialect[];
  /** Places phone calls. */
  readonly dialling: PhoneDialling;
  /** Phone numbers that receive calls by this transport. */
  readonly numbers: PhoneNumbers;
  /** This process's calls, which simulated callers can join; undefined in livekit mode. */
  readonly testable: Pick<TestCallParts, 'calls' | 'lines' | 'held'> | undefined;
  /** Figures of this process for other nodes. */
  figures(): NodeFigures;
  addMetrics(metrics: Metrics): void;
  /** Refuses new conversations, and ends those still running when `until` settles. */
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
    held: rest.node.held,
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

/** Webhooks and media streams of telephone providers; without `calls` every call is rejected, and none is placed. */
function phone(
  { sessions, platform, clock, log }: TransportOptions,
  carried: { readonly calls: PhoneCalls; readonly transferring: Transferring } | undefined,
  sip?: SipDialling,
) {
  const calls = carried?.calls;
  const { numbers, placed, outbound } = platform;
  const common = { numbers, placed, calls, clock, log };
  const placing = new Placing({
    ...{ ...common, runs: sessions.runs, outbound, dialling: DIALLING },
    ...(sip && { sip }),
  });
  const tokens = createStreamTokens(platform.secrets.key('phone streams'));
  const { runs } = sessions;
  const transfers = carried && {
    ...{ transfers: platform.transfers, transferring: carried.transferring, runs },
  };
  const parts = { ...common, placing, transfers, sessions: sessions.phone, tokens };
  return { placing, dialect: phoneDialect(parts) };
}

function transfersOf({ config, sessions, platform, clock, log }: TransportOptions): Transferring {
  const { transfers, numbers, outbound } = platform;
  const holdSound = config.phoneHoldSound === 'on';
  const { runs } = sessions;
  return new Transferring({ transfers, numbers, outbound, runs, dialling: DIALLING, holdSound, clock, log });
}

async function embedded(options: TransportOptions): Promise<OpenTransport> {
  const { config, children, sessions, platform, recordings, address, node, installation, clock, log } =
    options;
  const { runs } = sessions;
  const { callPlaces: places } = config;
  const secret = Buffer.from(platform.secrets.key('join tokens')).toString('hex');
  const joinTokens = createJoinTokens({ id: 'gateway', secret }, clock);
  const metrics = new CallMetrics(recordings.began, options.turns?.model.answers);
  const pool = children.pool('media');
  const parts = callParts(options, metrics);
  const beside = (): number => phoneCalls.size;
  const embeddedCalls = { calls: createEmbeddedCalls(pool, metrics), joinTokens, places, beside };
  const calls = new EmbeddedCalls({ ...parts, ...embeddedCalls });
  const lines = { carrier: 'phone', calls: createPhoneMedia(pool, metrics) } as const;
  const transferring = transfersOf(options);
  const phoneCalls = new PhoneCalls({ ...parts, ...lines, transferring, hasRoom: () => calls.hasRoom });
  const serving = { socketPath: address, handlers: relayedSignals(calls), slots: RELAYED, log };
  const signals = await serveJobs(serving);
  const key = platform.secrets.key('signalling between nodes');
  const near = createSignalRelay(log);
  const joining = {
    ...{ nodeId: options.processId, runs, calls, held: node.held, agents: platform.versions, clock, log },
    relay: createNodeRelay({ key, installation, nodes: node, near, clock, log }),
  };
  const { placing, dialect } = phone(options, { calls: phoneCalls, transferring });
  const relayed = { ...joining, gate: new RelayGate({ key, installation, clock }), installation, near };
  return {
    url: undefined,
    testable: { calls, lines: createCallerLines(pool), held: node.held },
    joinTokens,
    prepare: () => Promise.resolve(),
    addMetrics(page) {
      metrics.addTo(page);
      transferring.addMetrics(page);
    },
    figures: () => ({ calls: calls.size + beside(), places: places ?? null, draining: calls.stopping }),
    dialects: [
      mediaDialect({ ...joining, runs, joinTokens }),
      nodesDialect({ keys: platform.keys, nodes: node, relayed }),
      dialect,
    ],
    dialling: placing,
    numbers: withoutSip(platform.numbers),
    async stop(until) {
      await Promise.all([calls.stop(until), phoneCalls.stop(until)]);
      await Promise.all([placing.stop(), transferring.stop()]);
    },
    close: () => signals.close(0),
  };
}

/** One name for all processes of an installation, because installations may share a cluster. */
const agentNameOf = (secrets: Pick<Secrets, 'key'>): string =>
  `speech-gateway-${Buffer.from(secrets.key('agents of livekit')).toString('hex').slice(0, 12)}`;

/** One gateway process's share of the calls that the room workers have places for. */
const roomPlaces = ({ roomProcesses, roomsPerProcess, workers }: Config): number =>
  Math.max(1, Math.floor((roomProcesses * roomsPerProcess) / workers));

/** Calls in rooms of the cluster, carried by the room workers. */
function roomCalls(
  { children, log }: TransportOptions,
  { recorded, counted }: CallMetrics,
  cluster: Pick<Parameters<typeof createRoomCalls>[0], 'server' | 'agentName' | 'registered'>,
) {
  return createRoomCalls({ rooms: children.pool('room'), ...cluster, recorded, counted, log });
}

function livekit(server: LivekitServer, options: TransportOptions): OpenTransport {
  const { sessions, platform, recordings, node: nodes, clock, log } = options;
  const { runs } = sessions;
  const metrics = new CallMetrics(recordings.began, options.turns?.model.answers);
  const agentName = agentNameOf(platform.secrets);
  const registered = (): Promise<void> => worker.registered();
  const rooms = roomCalls(options, metrics, { server, agentName, registered });
  const sip = createSipService(server, agentName);
  const { numbers } = platform;
  const transferring = transfersOf(options);
  const phoned = { sip, runs, rooms, clock, log };
  const told = { sessions: sessions.phone, numbers, transfers: platform.transfers, transferring };
  const calls = new LivekitCalls({
    ...callParts(options, metrics),
    ...{ calls: rooms, places: roomPlaces(options.config), nodeId: options.processId, nodes },
    telephones: telephones({ ...phoned, ...told }),
  });
  const dialling = new SipDialling({ ...phoned, prepare: (session) => calls.prepare(session) });
  const { placing, dialect } = phone(options, undefined, dialling);
  const sipNumbers = new SipNumbers({ numbers, sip, clock, log });
  const worker = new AgentWorker({ server, agentName, work: calls, clock, log });
  return {
    url: server.url,
    testable: undefined,
    joinTokens: createJoinTokens({ id: server.key, secret: server.secret }, clock),
    prepare: (session) => calls.prepare(session),
    addMetrics(page) {
      metrics.addTo(page);
      transferring.addMetrics(page);
    },
    figures: () => calls.figures(),
    dialects: [
      clusterDialect({ server, runs, calls: rooms, log }),
      nodesDialect({ keys: platform.keys, nodes }),
      dialect,
    ],
    dialling: placing,
    numbers: sipNumbers.numbers,
    async stop(until) {
      sipNumbers.stop();
      const stopped = calls.stop(until);
      worker.report();
      await stopped;
      worker.close();
      await Promise.all([placing.stop(), transferring.stop()]);
    },
    close: () => Promise.resolve(),
  };
}

export async function openTransport(options: TransportOptions): Promise<OpenTransport> {
  const { livekit: server } = options.config;
  return server ? livekit(server, options) : embedded(options);
}
