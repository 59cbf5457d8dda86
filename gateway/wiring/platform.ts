/** Wires the agent platform of one gateway: its stores, the token counter, outbound requests. */
import type { Clock } from '../../contracts/clock.js';
import { whyOf } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import { repeat } from '../../contracts/time/repeat.js';
import type { Language } from '../../contracts/speech/languages.js';
import { DEFAULT_TRANSCRIPTION_MODEL } from '../../contracts/speech/models.js';
import type { Keeper } from '../../contracts/ports/parts.js';
import type { MemoryLedger } from '../../contracts/ports/accounts/memory.js';
import type { KeyAuthority } from '../../contracts/ports/accounts/identity.js';
import type { Speech } from '../../contracts/ports/speech/speech.js';
import type { Registry } from '../../engines/registry.js';
import { initialConfig } from '../../contracts/schemas/agent-config.js';
import { ProcessReader } from '../../engines/documents/documents.js';
import { createTokenCounter } from '../../engines/tokens/tokens.js';
import { createAgents } from '../../storage/agents/agents.js';
import type { Database } from '../../storage/postgres/database.js';
import { createAuditEntries } from '../../storage/audit.js';
import { createDeliveryRecords } from '../../storage/delivery-records.js';
import { createModelKeys } from '../../storage/agents/model-keys.js';
import { createKnowledge } from '../../storage/agents/knowledge.js';
import { keepWords } from '../../storage/agents/knowledge-upkeep.js';
import type { CallingLimits } from '../../storage/phone/calling-limits.js';
import { createPhoneNumbers } from '../../storage/phone/phone-numbers.js';
import { createTransfers } from '../../storage/phone/phone-transfers.js';
import { createPlacedCalls } from '../../storage/phone/placed-calls.js';
import { openSecrets } from '../../storage/secrets/secrets.js';
import { createTools } from '../../storage/agents/tools.js';
import { PlanCache } from '../../storage/plans/plan-cache.js';
import { PlanContents } from '../../storage/plans/plan-contents.js';
import { createCallStats } from '../../storage/sessions/figures.js';
import { createVersions } from '../../storage/agents/versions.js';
import type { Config } from '../config.js';
import { type EmbeddingConfig, openMeaning } from './embeddings.js';
import { send } from '../agents/deliveries/deliver.js';
import { createAuditTrail } from '../agents/stats/audit.js';
import { createStatsReports } from '../agents/stats/stats.js';
import type { PlatformParts } from '../dialects/platform/parts.js';
import { guardedConnections } from '../outbound/connections.js';
import { createOutbound } from '../outbound/fetch.js';
import { createMcp } from '../outbound/mcp.js';
import { agentModels } from './agent-models.js';
import type { ConversationModelConfig } from './language-model.js';
import type { OwnModelParts } from './own-model.js';

export interface PlatformOptions {
  readonly config: ConversationModelConfig &
    EmbeddingConfig &
    Pick<
      Config,
      | 'dataDir'
      | 'secretsKey'
      | 'secretsKeyPrevious'
      | 'outboundAllow'
      | 'recordAudioDefault'
      | 'modelsDir'
      | 'phoneAllowShort'
      | 'phoneCallsPerDay'
      | 'phoneCallsAtOnce'
      | 'vocabulary'
    >;
  readonly database: Database;
  readonly keys: KeyAuthority;
  readonly speech: Pick<Speech, 'checkVoice'>;
  readonly registry: Registry;
  readonly keeper: Keeper;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  /** What plans are charged to; default: nothing. */
  readonly memory: MemoryLedger;
}

const KEEP_WORDS_MS = 60_000;

/** The languages that the engines of sessions recognise now. */
const languagesOf = (registry: Registry): PlatformParts['languages'] => ({
  transcribes: (language: Language) =>
    registry.transcriberFor(DEFAULT_TRANSCRIPTION_MODEL, language) !== undefined,
  tellsApart: (languages: readonly Language[]) =>
    registry.transcribersOfAll(DEFAULT_TRANSCRIPTION_MODEL, languages).length > 0,
});

const callingLimitsOf = (config: PlatformOptions['config']): CallingLimits => ({
  perDay: config.phoneCallsPerDay ?? null,
  atOnce: config.phoneCallsAtOnce ?? null,
});

/** Knowledge sources, found by their words, and by meaning where a model for that is set. */
async function openKnowledge(options: PlatformOptions) {
  const { sql, asked } = options.database;
  const { ids, clock, log } = options;
  const meaning = await openMeaning(options);
  const words = createKnowledge({ sql: asked, ids, model: meaning?.model, wrote: meaning?.wake });
  const stopKeeping = repeat(
    clock,
    KEEP_WORDS_MS,
    () => keepWords(sql),
    (error) => log.warn(whyOf(error), 'could not keep the words of knowledge sources'),
  );
  return {
    knowledge: { ...words, ...meaning?.search(words) },
    mostPassages: meaning?.mostPassages,
    async stop(): Promise<void> {
      stopKeeping();
      await meaning?.stop();
    },
  };
}

/**
 * `agents`, `versions` and `knowledge` are the ports of conversations as well (`WebhookSecrets`, `PublishedAgents`,
 * `KnowledgeSearch`). Errors: `StorageFailure` for the installation's secret, an Error for OUTBOUND_ALLOW.
 */
export async function openPlatform(options: PlatformOptions) {
  const { config, database, keys, speech, registry, ids, clock, memory, keeper, log } = options;
  const { sql, asked } = database;
  const cache = new PlanCache(memory, LIMITS.agent.keptPlanBytes);
  const plans = new PlanContents(sql, cache);
  const outbound = createOutbound({ allow: config.outboundAllow, clock });
  const { dataDir, secretsKey, secretsKeyPrevious: previous } = config;
  const secrets = await openSecrets({ sql, dataDir, secretsKey, previous });
  const ownModels: OwnModelParts = {
    keys: createModelKeys(asked, secrets),
    connections: guardedConnections({ allow: config.outboundAllow }),
    keeper,
  };
  const tokens = createTokenCounter({ clock, modelsFolder: config.modelsDir });
  const documents = new ProcessReader(clock);
  const agents = createAgents({ sql: asked, ids, secrets });
  const webhooks = { outbound, secrets: agents, vocabulary: config.vocabulary, clock };
  const transfers = await createTransfers(database, ids);
  const { knowledge, mostPassages, stop: stopKnowledge } = await openKnowledge(options);
  const sendToWebhook: PlatformParts['sendToWebhook'] = async (posted) =>
    (await send(posted, webhooks)).answer;
  return {
    keys,
    speech,
    vocabulary: config.vocabulary,
    shortNumbers: new Set(config.phoneAllowShort),
    ids,
    clock,
    outbound,
    mcp: createMcp(outbound),
    secrets,
    tokens,
    documents,
    languages: languagesOf(registry),
    initialConfig: initialConfig(config.recordAudioDefault === 'true'),
    agents,
    ownModels,
    models: agentModels(config, ownModels, clock),
    deliveries: createDeliveryRecords(asked),
    audit: createAuditTrail(createAuditEntries({ sql, asked }), log),
    stats: createStatsReports(createCallStats(asked)),
    sendToWebhook,
    plans,
    versions: createVersions({ sql: asked, cache, plans }),
    tools: createTools({ sql: asked, ids, secrets }),
    knowledge,
    mostPassages,
    numbers: createPhoneNumbers({ sql: asked, ids, secrets }),
    placed: createPlacedCalls({ sql, asked, ids, limits: callingLimitsOf(config) }),
    transfers,
    async stop(): Promise<void> {
      transfers.stop();
      await stopKnowledge();
      documents.stop();
      await tokens.stop();
    },
  };
}
