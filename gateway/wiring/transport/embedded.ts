/** Wires the embedded transport: clients join here, and media workers carry their calls. */
import { createCallerLines } from '../../../media/embedded/caller/lines.js';
import { createEmbeddedCalls } from '../../../media/embedded/calls.js';
import { createPhoneMedia } from '../../../media/phone/calls.js';
import { serveJobs } from '../../../processes/child/serve-jobs.js';
import { mediaDialect } from '../../calls/signalling.js';
import { CallMetrics } from '../../calls/call-metrics.js';
import { EmbeddedCalls } from '../../calls/embedded.js';
import { createJoinTokens } from '../../calls/join-tokens.js';
import { RelayGate } from '../../calls/node-claims.js';
import { PhoneCalls } from '../../phone/phone-calls.js';
import { withoutSip } from '../../phone/sip/numbers.js';
import { createNodeRelay } from '../../calls/node-relay.js';
import { nodesDialect } from '../../calls/nodes.js';
import { createSignalRelay, RELAYED, relayedSignals } from '../../calls/signal-relay.js';
import { openPhone, transfersOf } from './phone.js';
import { callParts, type OpenTransport, type TransportOptions } from './parts.js';

export async function embeddedTransport(options: TransportOptions): Promise<OpenTransport> {
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
  const { placing, dialect } = openPhone(options, { calls: phoneCalls, transferring });
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
