/** What the platform's routes work with. */
import type { Clock } from '../../../contracts/clock.js';
import type { Language } from '../../../contracts/languages.js';
import type { Agents, AgentVersions } from '../../../contracts/ports/agents.js';
import type { KeyAuthority } from '../../../contracts/ports/identity.js';
import type { Knowledge } from '../../../contracts/ports/knowledge.js';
import type { Outbound } from '../../../contracts/ports/outbound.js';
import type { TokenCounter } from '../../../contracts/ports/tokens.js';
import type { ToolCredentials, Tools } from '../../../contracts/ports/tools.js';
import type { VoiceLibrary } from '../../../contracts/ports/voices.js';

export interface PlatformParts {
  readonly keys: KeyAuthority;
  readonly agents: Agents;
  readonly versions: AgentVersions;
  readonly tools: Tools & ToolCredentials;
  readonly knowledge: Knowledge;
  readonly tokens: TokenCounter;
  readonly outbound: Outbound;
  readonly voices: VoiceLibrary;
  /** Whether any configured engine recognises the language, and whether any speaks it. */
  readonly languages: {
    hears(language: Language): boolean;
    speaks(language: Language): boolean;
  };
  readonly clock: Clock;
}
