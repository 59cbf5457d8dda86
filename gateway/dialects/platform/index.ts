/**
 * The agent platform under `/v1/agent` (docs/contract/platform.md): agents, versions, tools, knowledge
 * sources, deliveries, sessions, and tests. Each file holds the handlers and descriptions of one noun.
 */
import type { Dialect, Route } from '../../server/port.js';
import { keyedRoutes } from '../../server/routes.js';
import { AGENT_ROWS } from './agents.js';
import { AUDIT_ROWS } from './audit.js';
import { DELIVERY_ROWS } from './deliveries.js';
import { REDELIVERY_ROWS } from './redeliveries.js';
import { platformWebhooks } from './webhooks.js';
import { platformError } from './errors.js';
import { KNOWLEDGE_ROWS } from './knowledge.js';
import { MODEL_TEST_ROWS } from './model-test.js';
import type { PlatformParts } from './parts.js';
import { STATS_ROWS } from './stats.js';
import { TOOL_TEST_ROWS } from './tool-test.js';
import { TOOL_ROWS } from './tools.js';
import { VERSION_ROWS } from './versions.js';

const ROWS = [
  ...AGENT_ROWS,
  ...VERSION_ROWS,
  ...MODEL_TEST_ROWS,
  ...TOOL_ROWS,
  ...TOOL_TEST_ROWS,
  ...KNOWLEDGE_ROWS,
  ...DELIVERY_ROWS,
  ...REDELIVERY_ROWS,
  ...STATS_ROWS,
  ...AUDIT_ROWS,
];

/** `more`: the routes of sessions, which also take callers without a key, and of tests; their parts are opened later. */
export const platformDialect = (parts: PlatformParts, more: readonly Route[] = []): Dialect => ({
  name: 'platform',
  prefixes: ['/v1/agent'],
  routes: [...keyedRoutes(ROWS, parts), ...more],
  webhooks: platformWebhooks(parts.vocabulary),
  errorReply: platformError,
});
