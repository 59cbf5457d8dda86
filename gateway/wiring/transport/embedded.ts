/** Wires the embedded transport: clients join here, and media workers carry their calls. */
import { createCallerLines } from '../../../media/embedded/caller/lines.js';
import { createEmbeddedCalls } from '../../../media/embedded/calls.js';
import { createOfferedMedia } from '../../../media/embedded/offered-calls.js';
import { createPhoneMedia } from '../../../media/phone/calls.js';
import type { CallObserver } from '../../../contracts/ports/calls/calls.js';
import type { JobRunner } from '../../../contracts/ports/jobs.js';
import type { NodeFigures } from '../../../contracts/ports/calls/nodes.js';
import { serveJobs } from '../../../processes/child/serve-jobs.js';
import { mediaDialect } from '../../agents/calls/signalling.js';
import { CallMetrics } from '../../agents/calls/call-metrics.js';
import { EmbeddedCalls } from '../../agents/calls/embedded.js';
import { createJoinTokens } from '../../agents/calls/join-tokens.js';
import { RelayGate } from '../../agents/calls/node-claims.js';
import { PhoneCalls } from '../../agents/phone/phone-calls.js';
import { withoutSip } from '../../agents/phone/sip/numbers.js';
import { SocketCalls } from '../../agents/calls/socket-calls.js';
import { createNodeRelay, type NodeRelay } from '../../agents/calls/node-relay.js';
import { nodesDialect } from '../../agents/calls/nodes.js';
import { createSignalRelay, RELAYED, relayedSignals } from '../../agents/calls/signal-relay.js';
import { mediaPlaces } from '../../config/media-places.js';
import { openMachineLoad } from '../machine-load.js';
import { openPhone, transfersOf } from './phone.js';
import { callParts, openChats, type OpenTransport, type TransportOptions } from './parts.js';

/** Only this installation has it. */
const joinKeyOf = ({ platform }: TransportOptions) => ({
  id: 'gateway',
  secret: Buffer.from(platform.secrets.key('join tokens')).toString('hex'),
});

/** Of calls with the realtime events: a line with words, or the connection that a client offers. */
const socketMedia = (pool: JobRunner, observer: CallObserver) => ({
  calls: createPhoneMedia(pool, observer),
  offers: createOfferedMedia(pool, observer),
});

/** The calls of this process, by what carries them. `relay`: leads to other nodes, once it is there. */
function openCalls(options: TransportOptions, metrics: CallMetrics, relay: () => NodeRelay) {
  const { config, children, node, clock } = options;
  const pool = children.pool('media');
  const parts = callParts(options, metrics);
  const joinTokens = createJoinTokens(joinKeyOf(options), clock);
  const places = mediaPlaces(config);
  const beside = (): number => phoneCalls.size + socketCalls.size;
  const placed = { places, beside, hasMedia: () => pool.hasPlace };
  const embeddedCalls = { calls: createEmbeddedCalls(pool, metrics), joinTokens, ...placed };
  const calls = new EmbeddedCalls({ ...parts, ...embeddedCalls });
  const hasRoom = (): boolean => calls.hasRoom;
  const transferring = transfersOf(options);
  const media = createPhoneMedia(pool, metrics);
  const phoneCalls = new PhoneCalls({
    ...{ ...parts, calls: media, transferring, hasRoom },
    elsewhere: () => relay().knowsRoom(),
  });
  const chats = openChats(parts, options);
  const socketCalls = new SocketCalls({
    ...{ ...parts, ...socketMedia(pool, metrics), hasRoom, relay },
    nodeId: options.processId,
    hasPeers: () => node.known.length > 1,
  });
  const loadOf = openMachineLoad(options);
  const figures = (count = calls.size + beside()): NodeFigures => ({
    ...{ calls: count, places, draining: calls.stopping, ...loadOf(count) },
  });
  return { pool, joinTokens, calls, transferring, phoneCalls, chats, socketCalls, figures };
}

type OpenCalls = ReturnType<typeof openCalls>;

/** The ways to this process's calls from other processes of the installation, and to theirs from here. */
async function openRelays(options: TransportOptions, { calls, socketCalls, figures }: OpenCalls) {
  const { platform, address, node, installation, clock, log } = options;
  const serving = { socketPath: address, handlers: relayedSignals(socketCalls, calls), slots: RELAYED, log };
  const signals = await serveJobs(serving);
  const key = platform.secrets.key('signalling between nodes');
  const near = createSignalRelay(log);
  const relay = createNodeRelay({ key, installation, nodes: node, here: figures, near, clock, log });
  const where = { nodeId: options.processId, runs: options.sessions.runs, calls, held: node.held, relay };
  const joining = { ...where, agents: platform.versions, clock, log };
  const gate = new RelayGate({ key, installation, clock });
  const relayed = { ...joining, gate, installation, near, sockets: socketCalls };
  return { signals, relay, joining, relayed };
}

export async function embeddedWebrtcTransport(options: TransportOptions): Promise<OpenTransport> {
  const { platform, recordings, node } = options;
  const metrics = new CallMetrics(recordings.began, options.turns.answers);
  const opened = openCalls(options, metrics, () => relay);
  const { pool, joinTokens, calls, transferring, phoneCalls, chats, socketCalls, figures } = opened;
  const { signals, relay, joining, relayed } = await openRelays(options, opened);
  const { placing, dialect } = openPhone(options, { calls: phoneCalls, transferring });
  return {
    url: undefined,
    testable: { calls, lines: createCallerLines(pool), held: node.held },
    socketCalls,
    joinTokens,
    chats,
    prepare: () => Promise.resolve(),
    addMetrics(page) {
      metrics.addTo(page);
      transferring.addMetrics(page);
    },
    figures,
    dialects: [
      mediaDialect({ ...joining, joinTokens }),
      nodesDialect({ keys: platform.keys, nodes: node, relayed }),
      dialect,
    ],
    dialling: placing,
    numbers: withoutSip(platform.numbers),
    async stop(until, refuses) {
      const others = [calls, socketCalls, chats].map((each) => each.stop(until));
      await Promise.all([...others, phoneCalls.stop(until, refuses)]);
      await Promise.all([placing.stop(), transferring.stop()]);
    },
    close: () => signals.close(0),
  };
}
