/** The agent platform of one gateway, wired: its stores on the database, the counter of tokens, the way out. */
import type { Clock } from '../contracts/clock.js';
import type { Ids } from '../contracts/ids.js';
import { LANGUAGES, type Language } from '../contracts/languages.js';
import { DEFAULT_SYNTHESIS_MODEL, DEFAULT_TRANSCRIPTION_MODEL } from '../contracts/models.js';
import type { KeyAuthority } from '../contracts/ports/identity.js';
import type { VoiceLibrary } from '../contracts/ports/voices.js';
import type { Registry } from '../engines/registry.js';
import { createTokenCounter } from '../engines/tokens.js';
import { createAgents } from '../storage/agents.js';
import type { Database } from '../storage/database.js';
import { createKnowledge } from '../storage/knowledge.js';
import { openSecrets } from '../storage/secrets.js';
import { createTools } from '../storage/tools.js';
import { createVersions } from '../storage/versions.js';
import type { Config } from './config.js';
import type { PlatformParts } from './dialects/platform/parts.js';
import { createOutbound } from './outbound/fetch.js';

export interface PlatformOptions {
  readonly config: Pick<Config, 'dataDir' | 'secretsKey' | 'outboundAllow'>;
  readonly database: Database;
  readonly keys: KeyAuthority;
  readonly voices: VoiceLibrary;
  readonly registry: Registry;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** What agents can hear and speak with the engines that their sessions use. */
function languagesOf(registry: Registry): PlatformParts['languages'] {
  const heard = LANGUAGES.filter((code) => registry.transcriberFor(DEFAULT_TRANSCRIPTION_MODEL, code));
  const engines = registry.speakersFor(DEFAULT_SYNTHESIS_MODEL);
  const spoken = new Set(engines.flatMap(({ capabilities }) => capabilities.languages));
  return {
    hears: (language: Language) => heard.includes(language),
    speaks: (language: Language) => spoken.has(language),
  };
}

/**
 * `agents`, `versions` and `knowledge` are the ports of conversations as well (`WebhookSecrets`, `PublishedAgents`,
 * `KnowledgeSearch`). Errors: `StorageFailure` for the installation's secret, an Error for OUTBOUND_ALLOW.
 */
export async function openPlatform(options: PlatformOptions) {
  const { config, database, keys, voices, registry, ids, clock } = options;
  const { sql } = database;
  const outbound = createOutbound({ allow: config.outboundAllow, clock });
  const { dataDir, secretsKey } = config;
  const secrets = await openSecrets({ sql, dataDir, secretsKey });
  const tokens = createTokenCounter({ clock });
  return {
    keys,
    voices,
    clock,
    outbound,
    secrets,
    tokens,
    languages: languagesOf(registry),
    agents: createAgents({ sql, ids, secrets }),
    versions: createVersions(sql),
    tools: createTools({ sql, ids, secrets }),
    knowledge: createKnowledge({ sql, ids }),
    stop: (): Promise<void> => tokens.stop(),
  };
}
