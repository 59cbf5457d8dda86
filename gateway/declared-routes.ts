/**
 * All routes that a gateway declares, without starting one, for the page of permissions (ops/setup/permissions.mjs), the
 * description from which clients are generated (ops/setup/python-client.mjs), and for tests: the parts are empty, and no handler runs.
 */
import { silentLog } from '../contracts/log.js';
import type { Permission } from '../contracts/permissions.js';
import { defaultVocabulary } from '../contracts/vocabulary.js';
import { nodesDialect } from './agents/calls/nodes.js';
import { clusterDialect, mediaDialect } from './agents/calls/signalling.js';
import { phoneDialect } from './agents/phone/index.js';
import type { Config } from './config.js';
import { callRoutes } from './dialects/platform/calls/index.js';
import { chatRoutes } from './dialects/platform/chats/index.js';
import { sessionRoutes } from './dialects/platform/sessions/index.js';
import { testRoutes } from './dialects/platform/tests/index.js';
import { dialectsOf, type GatewayParts } from './gateway.js';
import type { Dialect } from './server/port.js';
import { SOCKET } from './server/router.js';
import { Health } from './server/system/health.js';
import { Metrics } from './server/system/metrics.js';
import { systemDialect } from './server/system/system.js';

export interface DeclaredRoute {
  readonly dialect: string;
  /** `SOCKET` for a WebSocket. */
  readonly method: string;
  readonly path: string;
  readonly permission: Permission;
}

const vocabulary = defaultVocabulary;
const nothing = <T>(parts: object = {}): T => ({ vocabulary, ...parts }) as T;

const partsWith = (...dialects: readonly Dialect[]): GatewayParts =>
  nothing({
    node: nothing(),
    platform: nothing(),
    transport: { dialects },
    sessions: {
      routes: () => [...sessionRoutes(nothing()), ...chatRoutes(nothing())],
      callRoutes: () => callRoutes(nothing()),
    },
    tests: { routes: () => testRoutes(nothing()) },
  });

const declaredBy = ({ name, routes, sockets = [] }: Dialect): readonly DeclaredRoute[] => [
  ...routes.map(({ method, path, permission }) => ({ dialect: name, method, path, permission })),
  ...sockets.map(({ path, permission }) => ({ dialect: name, method: SOCKET, path, permission })),
];

/** All dialects, for both modes of calls: embedded and LiveKit. */
export function declaredDialects(): readonly Dialect[] {
  const config = nothing<Config>();
  const nodes = nodesDialect(nothing({ relayed: nothing() }));
  const phone = phoneDialect(nothing({ calls: nothing(), transfers: nothing() }));
  const dialects = dialectsOf(partsWith(mediaDialect(nothing()), nodes, phone), config, silentLog, nothing());
  const system = systemDialect({ health: new Health([]), metrics: new Metrics(), dialects });
  return [...dialects, clusterDialect(nothing()), system];
}

export const declaredRoutes = (): readonly DeclaredRoute[] => declaredDialects().flatMap(declaredBy);
