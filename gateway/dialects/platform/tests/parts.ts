/** The ports that the routes of tests use, and the types of their rows. */
import type { Clock } from '../../../../contracts/clock.js';
import type { Language } from '../../../../contracts/speech/languages.js';
import type { PublishedAgents } from '../../../../contracts/ports/agents/agents.js';
import type {
  Scenarios,
  Suites,
  TestFilter,
  TestRuns,
} from '../../../../contracts/ports/agents/agent-tests.js';
import type { Caller, KeyAuthority } from '../../../../contracts/ports/accounts/identity.js';
import type { TokenCounter } from '../../../../contracts/ports/tokens.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { queryParameter } from '../../../server/openapi/openapi-parts.js';
import type * as routes from '../../../server/routes.js';
import { textOf } from '../paging.js';
import type { VoiceCheck } from '../voice-check.js';

export interface TestParts {
  readonly keys: KeyAuthority;
  readonly agents: PublishedAgents;
  readonly tokens: TokenCounter;
  /** Whether a configured engine can recognise the language. */
  transcribes(language: Language): boolean;
  readonly scenarios: Scenarios;
  readonly suites: Suites;
  readonly runs: TestRuns;
  /** Whether a language model is configured. */
  readonly hasModel: boolean;
  /** Whether this gateway carries its calls itself, so that a simulated caller can join them. */
  readonly hasCalls: boolean;
  readonly speech: VoiceCheck;
  readonly clock: Pick<Clock, 'now'>;
}

export type AgentTestHandler = routes.RouteHandler<TestParts, Caller>;
export type AgentTestRow = routes.RouteRow<TestParts, Caller>;

export const TESTS = '/v1/agent/tests';

/** Errors: `invalid_request`. */
export function agentFilter(query: URLSearchParams): TestFilter {
  const agentId = textOf(query, 'agent_id', LIMITS.agent.reference);
  return agentId === undefined ? {} : { agentId };
}

export const AGENT_FILTER = queryParameter('agent_id', { type: 'string' }, 'Only of this agent.');
