/** The ports that the platform's routes use. */
import type { Clock } from '../../../contracts/clock.js';
import type { Ids } from '../../../contracts/ids.js';
import type { Language } from '../../../contracts/speech/languages.js';
import type { Agents, AgentVersions, PublishedAgents } from '../../../contracts/ports/agents/agents.js';
import type { DeliveryRecords, SendToWebhook } from '../../../contracts/ports/sessions/deliveries.js';
import type { StatsReports } from '../../../contracts/ports/sessions/stats.js';
import type { AuditTrail } from '../../../contracts/ports/accounts/audit.js';
import type { KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import type { DocumentReader } from '../../../contracts/ports/documents.js';
import type { Knowledge, KnowledgeSearch } from '../../../contracts/ports/agents/knowledge.js';
import type { TriedModels } from '../../../contracts/ports/agents/models.js';
import type { OpenMcp } from '../../../contracts/ports/agents/mcp.js';
import type { Outbound } from '../../../contracts/ports/outbound.js';
import type { TokenCounter } from '../../../contracts/ports/tokens.js';
import type { ToolCredentials, Tools } from '../../../contracts/ports/agents/tools.js';
import type { AgentConfig } from '../../../contracts/schemas/agent-config.js';
import type { ShortNumbers } from '../../../contracts/phone/phone.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import type { VoiceCheck } from './voice-check.js';

export interface PlatformParts {
  readonly keys: KeyAuthority;
  readonly agents: Agents;
  readonly versions: AgentVersions & Pick<PublishedAgents, 'draft' | 'version'>;
  readonly tools: Tools & ToolCredentials;
  readonly knowledge: Knowledge & KnowledgeSearch;
  readonly documents: DocumentReader;
  /** Most passages of the sources of one agent; undefined: any number. */
  readonly mostPassages?: number | undefined;
  readonly deliveries: DeliveryRecords;
  readonly stats: StatsReports;
  readonly audit: Pick<AuditTrail, 'list'>;
  readonly sendToWebhook: SendToWebhook;
  readonly models: TriedModels;
  readonly tokens: TokenCounter;
  readonly outbound: Outbound;
  readonly mcp: OpenMcp;
  /** The configuration of a new agent. */
  readonly initialConfig: AgentConfig;
  readonly speech: VoiceCheck;
  /** Whether any configured engine recognises the language. */
  readonly languages: {
    transcribes(language: Language): boolean;
    /** Whether one of them hears all of these, and tells which was spoken. */
    tellsApart(languages: readonly Language[]): boolean;
  };
  /** Short numbers that calls may be transferred to. */
  readonly shortNumbers: ShortNumbers;
  readonly vocabulary: Vocabulary;
  readonly ids: Ids;
  readonly clock: Clock;
}
