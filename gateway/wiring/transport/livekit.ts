/** Wires the livekit transport: agents join rooms of a cluster, which room workers carry. */
import type { Ask, Keeper } from '../../../contracts/ports/parts.js';
import type { Secrets } from '../../../contracts/ports/secrets.js';
import { AgentWorker } from '../../../media/livekit/agent-worker.js';
import { createRoomCalls } from '../../../media/livekit/calls.js';
import { createSipService } from '../../../media/livekit/sip-service.js';
import type { Config, LivekitSettings } from '../../config.js';
import { clusterDialect } from '../../agents/calls/signalling.js';
import { CallMetrics } from '../../agents/calls/call-metrics.js';
import { LivekitCalls } from '../../agents/calls/livekit.js';
import { createJoinTokens } from '../../agents/calls/join-tokens.js';
import { telephones } from '../../agents/phone/sip/answering.js';
import { SipDialling } from '../../agents/phone/sip/dialling.js';
import { SipNumbers } from '../../agents/phone/sip/numbers.js';
import { nodesDialect } from '../../agents/calls/nodes.js';
import { openMachineLoad } from '../machine-load.js';
import { openPhone, transfersOf } from './phone.js';
import { livekitPart } from '../parts.js';
import { callParts, openChats, type OpenTransport, type TransportOptions } from './parts.js';

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
  cluster: Pick<Parameters<typeof createRoomCalls>[0], 'server' | 'agentName' | 'registered' | 'asks'>,
) {
  return createRoomCalls({ rooms: children.pool('room'), ...cluster, recorded, counted, log });
}

/** Tells the keeper what comes of each request to the server. */
function askingOf(server: LivekitSettings, keeper: Keeper): Ask {
  const part = livekitPart(server);
  keeper.knowPart(part);
  return () => keeper.ask(part);
}

/** Ends the calls; meanwhile the server learns that this worker takes no more. */
async function stopCalls(calls: LivekitCalls, worker: AgentWorker, until: Promise<unknown>): Promise<void> {
  const stopped = calls.stop(until);
  worker.report();
  await stopped;
  worker.close();
}

/** What other nodes and the server ask of this one. */
const nodeDialects = (
  server: LivekitSettings,
  { sessions, platform, node: nodes, log }: TransportOptions,
  calls: ReturnType<typeof roomCalls>,
): OpenTransport['dialects'] => [
  clusterDialect({ server, runs: sessions.runs, calls, log }),
  nodesDialect({ keys: platform.keys, nodes }),
];

export function livekitTransport(server: LivekitSettings, options: TransportOptions): OpenTransport {
  const { sessions, platform, recordings, node: nodes, keeper, clock, log } = options;
  const { runs } = sessions;
  const { numbers } = platform;
  const metrics = new CallMetrics(recordings.began, options.turns.answers);
  const agentName = agentNameOf(platform.secrets);
  const registered = (): Promise<void> => worker.registered();
  const asks = askingOf(server, keeper);
  const rooms = roomCalls(options, metrics, { server, agentName, registered, asks });
  const sip = createSipService(server, agentName, asks);
  const transferring = transfersOf(options);
  const phoned = { sip, runs, rooms, clock, log };
  const told = {
    sessions: sessions.phone,
    numbers: platform.numbers,
    transfers: platform.transfers,
    transferring,
  };
  const parts = callParts(options, metrics);
  const chats = openChats(parts, options);
  const calls = new LivekitCalls({
    ...parts,
    calls: rooms,
    places: roomPlaces(options.config),
    loadOf: openMachineLoad(options),
    nodeId: options.processId,
    nodes,
    telephones: telephones({ ...phoned, ...told }),
  });
  const dialling = new SipDialling({ ...phoned, prepare: (session) => calls.prepare(session) });
  const { placing, dialect } = openPhone(options, undefined, dialling);
  const sipNumbers = new SipNumbers({ numbers, sip, clock, log });
  const worker = new AgentWorker({ server, agentName, work: calls, asks, clock, log });
  return {
    url: server.url,
    beginsAtOnce: true,
    testable: undefined,
    socketCalls: undefined,
    chats,
    joinTokens: createJoinTokens({ id: server.key, secret: server.secret }, clock),
    prepare: (session) => calls.prepare(session),
    addMetrics(page) {
      metrics.addTo(page);
      transferring.addMetrics(page);
    },
    figures: () => calls.figures(),
    dialects: [...nodeDialects(server, options, rooms), dialect],
    dialling: placing,
    numbers: sipNumbers.numbers,
    async stop(until) {
      sipNumbers.stop();
      await Promise.all([stopCalls(calls, worker, until), chats.stop(until)]);
      await Promise.all([placing.stop(), transferring.stop()]);
    },
    close: () => Promise.resolve(),
  };
}
