/** Wires tests of agents at one gateway: their stores, and the loop that plays queued tests. */
import type { Clock } from '../../contracts/clock.js';
import type { Ids } from '../../contracts/ids.js';
import type { Log } from '../../contracts/log.js';
import type { TestQueue } from '../../contracts/ports/agents/agent-tests.js';
import type { Admission } from '../../contracts/ports/accounts/identity.js';
import type { Keeper } from '../../contracts/ports/parts.js';
import type { Speech, Transcription } from '../../contracts/ports/speech/speech.js';
import { likelyLanguages, scriptsIn } from '../../engines/text/language.js';
import { createTestQueue } from '../../storage/agent-tests/queue.js';
import { createTestRuns } from '../../storage/agent-tests/runs.js';
import { createScenarios } from '../../storage/agent-tests/scenarios.js';
import { createSuites } from '../../storage/agent-tests/suites.js';
import type { Database } from '../../storage/postgres/database.js';
import { startAgentTests } from '../agents/agent-tests/loop.js';
import type { VoiceParts } from '../agents/agent-tests/voice/converse.js';
import { placeTestCall } from '../agents/calls/test-calls.js';
import { testRoutes } from '../dialects/platform/tests/index.js';
import type { Route } from '../server/port.js';
import { languageModel, type ModelConfig } from './language-model.js';
import type { openPlatform } from './platform.js';
import type { OpenSessions } from './sessions.js';
import type { OpenTransport } from './transport/parts.js';

export interface AgentTestOptions {
  readonly config: ModelConfig;
  readonly database: Pick<Database, 'sql' | 'asked' | 'events'>;
  readonly platform: Awaited<ReturnType<typeof openPlatform>>;
  readonly sessions: Pick<OpenSessions, 'runs' | 'sessions'>;
  readonly transport: Pick<OpenTransport, 'testable'>;
  readonly admission: Pick<Admission, 'check'>;
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly keeper: Keeper;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenAgentTests {
  routes(): readonly Route[];
  stop(): Promise<void>;
}

/** Calls of simulated callers, if this gateway carries its calls itself. */
function voiceParts(
  { sessions, transport, admission, speech, transcription }: AgentTestOptions,
  queue: TestQueue,
) {
  const { testable } = transport;
  if (!testable) return undefined;
  const parts = { ...testable, ...sessions, admission };
  return {
    speech,
    transcription,
    place: (...[session, agent, caller]: Parameters<VoiceParts['place']>) =>
      placeTestCall(session, agent, caller, parts),
    began: (test, sessionId) => queue.began(test, sessionId),
    over: (test, sessionId) => queue.over(test, sessionId),
  } satisfies VoiceParts;
}

export async function openAgentTests(options: AgentTestOptions): Promise<OpenAgentTests> {
  const { config, database, platform, keeper, ids, clock, log } = options;
  const { asked: sql } = database;
  const model = languageModel(config, keeper);
  const queue = createTestQueue(database, platform.plans);
  const voice = voiceParts(options, queue);
  const loop = await startAgentTests({
    queue,
    ...(voice && { voice }),
    models: platform.models,
    ...(model && { model }),
    knowledge: platform.knowledge,
    outbound: platform.outbound,
    credentials: platform.tools,
    mcp: platform.mcp,
    agents: platform.versions,
    languagesOf: (text) => likelyLanguages(text, scriptsIn(text)),
    clock,
    log,
  });
  const parts = {
    keys: platform.keys,
    agents: platform.versions,
    tokens: platform.tokens,
    transcribes: platform.languages.transcribes,
    scenarios: createScenarios({ sql, ids }),
    suites: createSuites({ sql, ids }),
    runs: createTestRuns({ sql, ids, plans: platform.plans }),
    hasModel: model !== undefined,
    hasCalls: voice !== undefined,
    speech: platform.speech,
    clock,
  };
  return { routes: () => testRoutes(parts), stop: () => loop.stop() };
}
