/**
 * Wires the voice sessions of one gateway: their stores, the limits of requests without a key, the tokens that clients
 * join with, the analysis of ended calls and the delivery of their events.
 */
import type { Clock } from '../../contracts/clock.js';
import type { Ids } from '../../contracts/ids.js';
import type { Language } from '../../contracts/speech/languages.js';
import type { Log } from '../../contracts/log.js';
import type { Admission } from '../../contracts/ports/accounts/identity.js';
import type { PhoneSessions } from '../../contracts/ports/phone/phone.js';
import type { PhoneDialling } from '../../contracts/ports/phone/placed-calls.js';
import type { Keeper } from '../../contracts/ports/parts.js';
import type { Recordings } from '../../contracts/ports/sessions/recordings.js';
import type { SessionRuns, Sessions } from '../../contracts/ports/sessions/sessions.js';
import type { SocketSessions } from '../../contracts/ports/sessions/socket-sessions.js';
import type { SessionTransport } from '../../contracts/ports/calls/transport.js';
import type { Database } from '../../storage/postgres/database.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { createDeliveryQueue } from '../../storage/deliveries.js';
import { createPublicLimits } from '../../storage/public-limits.js';
import { createSessions } from '../../storage/sessions.js';
import { createAnalysisQueue } from '../../storage/sessions/analyses.js';
import { createSessionRuns, type SessionRunsParts } from '../../storage/sessions/runs.js';
import type { Config } from '../config.js';
import { startAnalyses } from '../agents/deliveries/analyses.js';
import { askBeforeCall } from '../agents/deliveries/conversation-init.js';
import { startDeliveries } from '../agents/deliveries/loop.js';
import { chatRoutes } from '../dialects/platform/chats/index.js';
import { callRoutes } from '../dialects/platform/calls/index.js';
import { phoneSessions } from '../dialects/platform/sessions/making.js';
import { createRefusalLimit } from '../dialects/platform/sessions/refusal-limit.js';
import { socketSessions } from '../dialects/platform/sessions/socket.js';
import { sessionRoutes } from '../dialects/platform/sessions/index.js';
import { languageModel, type ModelConfig } from './language-model.js';
import { ownModel } from './own-model.js';
import type { openPlatform } from './platform.js';
import type { Route } from '../server/port.js';
import type { Metrics } from '../server/system/metrics.js';

export interface SessionOptions {
  readonly config: ModelConfig &
    Pick<
      Config,
      | 'callsPerWorkspace'
      | 'phonePremium'
      | 'sessionDays'
      | 'statsDays'
      | 'auditDays'
      | 'prices'
      | 'publicSessionsPerAddress'
      | 'publicSessionsPerAgent'
      | 'vocabulary'
    >;
  readonly database: Database;
  readonly platform: Awaited<ReturnType<typeof openPlatform>>;
  readonly admission: Pick<Admission, 'check'>;
  /** Unique among all live processes. */
  readonly processId: string;
  readonly node: SessionRunsParts['node'];
  readonly recordings: Recordings;
  readonly keeper: Keeper;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenSessions {
  readonly runs: SessionRuns;
  readonly sessions: Sessions;
  readonly phone: PhoneSessions;
  /** Of calls by one WebSocket. */
  readonly sockets: SocketSessions;
  routes(transport: SessionTransport): readonly Route[];
  /** The dialling of placed calls. */
  callRoutes(dialling: PhoneDialling): readonly Route[];
  /** Of deliveries. */
  addMetrics(metrics: Metrics): void;
  stop(): Promise<void>;
}

/** The delivery of post-call events, and its metrics. */
async function openDeliveries({ config, database, platform, keeper, clock, log }: SessionOptions) {
  const { outbound, agents } = platform;
  const queue = createDeliveryQueue(database);
  const watch = new DeliveryMetrics(keeper);
  const { vocabulary } = config;
  const parts = { queue, outbound, secrets: agents, vocabulary, watch, clock, log };
  return { deliveries: await startDeliveries(parts), watch };
}

function openAnalyses({ config, database, platform, keeper, clock, log }: SessionOptions) {
  const analyst = languageModel(config, keeper);
  return startAnalyses({
    queue: createAnalysisQueue(database.sql),
    chatOf: ({
      plan: {
        config: { llm },
      },
      record: { id, agentId, endUserId },
    }) =>
      llm.custom ? ownModel(llm.custom, { agentId, sessionId: id, endUserId }, platform.ownModels) : analyst,
    keeper,
    clock,
    log,
  });
}

const openRuns = ({ config, database, platform, processId, node, clock, log }: SessionOptions) =>
  createSessionRuns({
    ...{ database, processId, node, clock, log },
    plans: platform.plans,
    keptDays: config,
    callsPerWorkspace: config.callsPerWorkspace ?? null,
  });

/** What sessions of every kind are made with. */
function sessionParts(options: SessionOptions, runs: SessionRuns) {
  const { config, database, platform, ids, clock, log } = options;
  const { sql, asked, callers } = database;
  const { keys, tokens, speech, languages, numbers, placed, plans, shortNumbers } = platform;
  const { vocabulary, publicSessionsPerAddress: perAddress, publicSessionsPerAgent: perAgent } = config;
  const { callsPerWorkspace = null, prices } = config;
  return {
    keys,
    numbers,
    placed,
    shortNumbers,
    refusesPremium: config.phonePremium === 'refuse',
    tokens,
    speech,
    vocabulary,
    runs,
    agents: platform.versions,
    sessions: createSessions({ sql, asked, ids, plans, callsPerWorkspace, prices }),
    limits: createPublicLimits({ sql: callers, perAddress, perAgent }),
    refusals: createRefusalLimit(clock),
    admission: options.admission,
    transcribes: (language: Language) => languages.transcribes(language),
    recordings: options.recordings,
    askBeforeCall: askBeforeCall({
      outbound: platform.outbound,
      secrets: platform.agents,
      vocabulary,
      clock,
    }),
    clock,
    log,
  };
}

export async function openSessions(options: SessionOptions): Promise<OpenSessions> {
  const runs = await openRuns(options);
  const { deliveries, watch } = await openDeliveries(options);
  const analyses = openAnalyses(options);
  const parts = sessionParts(options, runs);
  return {
    runs,
    sessions: parts.sessions,
    phone: phoneSessions(parts),
    sockets: socketSessions({ ...parts, ids: options.ids }),
    routes: (transport) => [
      ...sessionRoutes({ ...parts, transport }),
      ...chatRoutes({ ...parts, transport }),
    ],
    callRoutes: (dialling) => callRoutes({ ...parts, dialling }),
    addMetrics: (metrics) => watch.addTo(metrics),
    async stop() {
      await analyses.stop();
      await deliveries.stop();
      runs.stop();
    },
  };
}
