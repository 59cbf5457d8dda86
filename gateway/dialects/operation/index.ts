/** Figures for operators of a gateway and owners of a workspace: the last hour, usage against quotas, keys (docs/native-api.md). */
import type { WorkspaceUsage } from '../../../contracts/ports/accounts/account.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import { ServiceError } from '../../../contracts/errors.js';
import { Moment, nullable } from '../../../contracts/schemas/shapes.js';
import { Type } from '../../../contracts/schemas/type.js';
import { type HistoryMinute, quantile } from '../../server/system/history.js';
import { nativeError } from '../../server/native-error.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import type { Dialect } from '../../server/port.js';
import { keyedRoutes, type RouteRow } from '../../server/routes.js';
import { described, failures, uncached } from './answers.js';
import { KEY_ROWS, type KeyParts } from './keys.js';
import { MODEL_ROWS, type ModelParts } from './models.js';

export interface OperationParts extends KeyParts, ModelParts {
  /** The last sixty minutes of all processes of this machine that replied, and the number of these processes. */
  readonly history: () => Promise<{ readonly processes: number; readonly minutes: readonly HistoryMinute[] }>;
}

const Count = Type.Integer({ minimum: 0 });
const Ms = nullable(Type.Number({ minimum: 0, description: 'Null if there was none.' }));
const Latency = (description: string) =>
  Type.Object({ count: Count, p50_ms: Ms, p95_ms: Ms, p99_ms: Ms }, { description });

const HistoryEntity = Type.Object({
  processes: Type.Integer({
    minimum: 1,
    description: 'Gateway processes of this machine that are counted.',
  }),
  minutes: Type.Array(
    Type.Object({
      at: Moment,
      replies: Count,
      refused: Type.Integer({ minimum: 0, description: '4xx except 499 (the client disconnected).' }),
      failed: Type.Integer({ minimum: 0, description: '5xx.' }),
      first_byte: Latency('From a request to the first byte of its reply.'),
      turn: Latency("From the end of a user's turn to the first audio of its answer."),
    }),
    {
      description:
        'The last sixty, oldest first; the last one is not complete. Without pages, health and metrics.',
    },
  ),
  errors: Type.Array(
    Type.Object({ method: Type.String(), route: Type.String(), status: Type.Integer(), count: Count }),
    { description: 'Refusals and failures of these minutes, the most frequent first; 100 at most.' },
  ),
});

const Kind = Type.Object({ used: Type.Number({ minimum: 0 }), quota: nullable(Type.Number({ minimum: 0 })) });
const UsageEntity = Type.Object({
  workspace_id: Type.String(),
  workspace_name: Type.String(),
  from: Moment,
  until: Moment,
  concurrency: Type.Integer({ minimum: 0, description: 'Speech jobs at once, calls apart.' }),
  calls: nullable(Type.Integer({ minimum: 0, description: 'Calls at once; null: any number.' })),
  synthesis_characters: Kind,
  transcription_seconds: Kind,
  conversation_seconds: Kind,
});

const SHOWN_ERRORS = 100;
const PARTS = { p50_ms: 0.5, p95_ms: 0.95, p99_ms: 0.99 } as const;

const latencyOf = (buckets: readonly number[]): object => ({
  count: buckets.reduce((sum, each) => sum + each, 0),
  ...Object.fromEntries(
    Object.entries(PARTS).map(([name, part]) => {
      const seconds = quantile(buckets, part);
      return [name, seconds === null ? null : Math.round(seconds * 10_000) / 10];
    }),
  ),
});

interface Kinds {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly count: number;
}

const kindOf = ([kind, count]: [string, number]): Kinds => {
  const [method = '', route = '', status] = kind.split(' ');
  return { method, route, status: Number(status), count };
};

const kindsOf = ({ errors }: Pick<HistoryMinute, 'errors'>): readonly Kinds[] =>
  Object.entries(errors).map(kindOf);

/** The client left before the reply, so nothing was refused. */
const GONE = 499;

const countOf = (minute: HistoryMinute, hundred: number): number =>
  kindsOf(minute)
    .filter(({ status }) => Math.floor(status / 100) === hundred && status !== GONE)
    .reduce((sum, { count }) => sum + count, 0);

const minuteBody = (minute: HistoryMinute): object => ({
  at: new Date(minute.minute * 60_000).toISOString(),
  replies: minute.replies,
  refused: countOf(minute, 4),
  failed: countOf(minute, 5),
  first_byte: latencyOf(minute.firstByte),
  turn: latencyOf(minute.turn),
});

function errorsOf(minutes: readonly HistoryMinute[]): readonly Kinds[] {
  const sums: Record<string, number> = {};
  for (const { errors } of minutes)
    for (const [kind, count] of Object.entries(errors)) sums[kind] = (sums[kind] ?? 0) + count;
  return [...kindsOf({ errors: sums })].sort((one, other) => other.count - one.count).slice(0, SHOWN_ERRORS);
}

const seconds = ({ used, quota }: WorkspaceUsage['kinds']['conversation_ms']): object => ({
  used: used / 1000,
  quota: quota === null ? null : quota / 1000,
});

const usageBody = (
  workspaceId: string,
  { name, from, until, concurrency, calls, kinds }: WorkspaceUsage,
): object => ({
  workspace_id: workspaceId,
  workspace_name: name,
  from: from.toISOString(),
  until: until.toISOString(),
  concurrency,
  calls,
  synthesis_characters: kinds.synthesis_characters,
  transcription_seconds: seconds(kinds.transcription_ms),
  conversation_seconds: seconds(kinds.conversation_ms),
});

const ROWS: readonly RouteRow<OperationParts, Caller>[] = [
  {
    method: 'GET',
    path: '/v1/machine/history',
    // Figures of all workspaces, for operators.
    permission: 'machine',
    async handler(_request, { history }) {
      const { processes, minutes } = await history();
      return uncached({ processes, minutes: minutes.map(minuteBody), errors: errorsOf(minutes) });
    },
    description: described(
      'The last hour of this machine',
      'Replies, errors by kind and latencies of the gateway processes of the machine that answers, minute by minute, kept in memory.',
      HistoryEntity,
    ),
  },
  {
    method: 'GET',
    path: '/v1/usage',
    permission: 'catalogue',
    async handler(_request, { accounts }, { workspaceId }) {
      const usage = await accounts.usage(workspaceId);
      if (!usage) throw new ServiceError('not_found');
      return uncached(usageBody(workspaceId, usage));
    },
    description: described(
      'Usage against quota',
      "What the key's workspace has used in this month (UTC), some seconds late, and what it may; null is no quota.",
      UsageEntity,
    ),
  },
  {
    method: 'POST',
    path: '/v1/sign-ins',
    // Any key may say that somebody uses it.
    permission: 'open',
    handler: async () => ({ status: 204 }),
    audit: { action: 'signed_in' },
    description: {
      summary: 'Sign in',
      operationId: 'signIn',
      description:
        'Tries the key, and leaves an entry in the audit trail of its workspace: somebody begins to work with it, such as in the console.',
      tags: ['Operation'],
      responses: { ...answers(204, 'The key is valid'), ...failures(401) },
    },
  },
  ...KEY_ROWS,
  ...MODEL_ROWS,
];

export const operationDialect = (parts: OperationParts): Dialect => ({
  name: 'operation',
  prefixes: ['/v1/machine', '/v1/usage', '/v1/sign-ins', '/v1/keys'],
  routes: keyedRoutes(ROWS, parts),
  errorReply: nativeError,
});
