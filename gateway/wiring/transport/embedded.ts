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
import { createNodeRelay } from '../../agents/calls/node-relay.js';
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

export async function embeddedWebrtcTransport(options: TransportOptions): Promise<OpenTransport> {
  const { config, children, platform, recordings, address, node, installation, clock, log } = options;
  const { runs } = options.sessions;
  const places = mediaPlaces(config);
  const joinTokens = createJoinTokens(joinKeyOf(options), clock);
  const metrics = new CallMetrics(recordings.began, options.turns.answers);
  const pool = children.pool('media');
  const parts = callParts(options, metrics);
  const beside = (): number => phoneCalls.size + socketCalls.size;
  const loadOf = openMachineLoad(options);
  const figures = (count = calls.size + beside()): NodeFigures => ({
    ...{ calls: count, places, draining: calls.stopping, ...loadOf(count) },
  });
  const placed = { places, beside, hasMedia: () => pool.hasPlace };
  const embeddedCalls = { calls: createEmbeddedCalls(pool, metrics), joinTokens, ...placed };
  const calls = new EmbeddedCalls({ ...parts, ...embeddedCalls });
  const transferring = transfersOf(options);
  const media = createPhoneMedia(pool, metrics);
  const phoneCalls = new PhoneCalls({
    ...{ ...parts, calls: media, transferring },
    hasRoom: () => calls.hasRoom,
    elsewhere: () => relay.knowsRoom(),
  });
  const chats = openChats(parts, options);
  const socketCalls = new SocketCalls({
    ...parts,
    ...socketMedia(pool, metrics),
    hasRoom: () => calls.hasRoom,
    nodeId: options.processId,
    relay: () => relay,
    hasPeers: () => node.known.length > 1,
  });
  const serving = { socketPath: address, handlers: relayedSignals(socketCalls, calls), slots: RELAYED, log };
  const signals = await serveJobs(serving);
  const key = platform.secrets.key('signalling between nodes');
  const near = createSignalRelay(log);
  const relay = createNodeRelay({ key, installation, nodes: node, here: figures, near, clock, log });
  const where = { nodeId: options.processId, runs, calls, held: node.held, relay };
  const joining = { ...where, agents: platform.versions, clock, log };
  const { placing, dialect } = openPhone(options, { calls: phoneCalls, transferring });
  const relayed = {
    ...joining,
    gate: new RelayGate({ key, installation, clock }),
    installation,
    near,
    sockets: socketCalls,
  };
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
      mediaDialect({ ...joining, runs, joinTokens }),
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
