/** Sending many deliveries again: all failed ones, or those of a time span (docs/contract/platform.md 6.8). */
import { LIMITS } from '../../../contracts/limits.js';
import type { Redelivery, RedeliveryFilter } from '../../../contracts/ports/sessions/deliveries.js';
import { ErrorBody, leaf, Moment, nullable, strict, text } from '../../../contracts/schemas/shapes.js';
import { type Static, Type } from '../../../contracts/schemas/type.js';
import { answers, jsonBody } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { readBody } from './bodies.js';
import { checked } from './checked.js';
import { problem, refuse } from './errors.js';
import { MOMENT_RULE, readMoment } from './moments.js';
import { bodyFailures, failures, found, type PlatformHandler, idOf, type PlatformRow } from './rows.js';

const { url, redeliveries } = LIMITS.postCallWebhook;
const WHAT = 'Redelivery';
const STATUSES = ['failed', 'delivered'] as const;
const MOMENT_LENGTH = 64;

const RedeliveryRequest = strict(
  {
    status: leaf(Type.Enum([...STATUSES], { default: 'failed' })),
    agent_id: leaf(text(LIMITS.session.agentId)),
    session_id: leaf(text(LIMITS.session.agentId)),
    url: leaf(text(url.max, { description: 'Only those to this webhook.' })),
    created_after: leaf(
      text(MOMENT_LENGTH, { description: 'Of the event: a date or an RFC 3339 date-time.' }),
    ),
    created_before: leaf(text(MOMENT_LENGTH)),
  },
  { examples: [{ status: 'failed', created_after: '2026-01-01T12:00:00Z' }] },
);
type RedeliveryRequest = Static<typeof RedeliveryRequest>;

const RedeliveryEntity = Type.Object(
  {
    redelivery_id: Type.String(),
    status: Type.Enum(['running', 'completed']),
    created_at: Moment,
    finished_at: nullable(
      Type.String({ format: 'date-time', description: 'All were made to wait; some may still do.' }),
    ),
    redelivered: Type.Integer({ minimum: 0, description: 'Deliveries that it made to wait again so far.' }),
    waiting: Type.Integer({ minimum: 0, description: 'Those of them that were not attempted yet.' }),
  },
  {
    title: 'Redelivery',
    examples: [
      {
        redelivery_id: '17',
        status: 'running',
        created_at: '2026-01-01T12:00:00.000Z',
        finished_at: null,
        redelivered: 200,
        waiting: 180,
      },
    ],
  },
);

const entityOf = ({ id, createdAt, finishedAt, redelivered, waiting }: Redelivery) => ({
  redelivery_id: id,
  status: finishedAt ? 'completed' : 'running',
  created_at: createdAt.toISOString(),
  finished_at: finishedAt?.toISOString() ?? null,
  redelivered,
  waiting,
});

const MOMENTS = ['created_after', 'created_before'] as const;

function filterOf(request: RedeliveryRequest): RedeliveryFilter {
  const { status, agent_id: agentId, session_id: sessionId, url: to } = request;
  const [createdAfter, createdBefore] = MOMENTS.map((name) => readMoment(request[name] ?? ''));
  return {
    status: status ?? 'failed',
    ...(agentId && { agentId }),
    ...(sessionId && { sessionId }),
    ...(to && { url: to }),
    ...(createdAfter && { createdAfter }),
    ...(createdBefore && { createdBefore }),
  };
}

const checkRequest = checked(RedeliveryRequest);

const create: PlatformHandler = async (request, { deliveries }, { workspaceId }) => {
  const wanted = checkRequest(await readBody(request));
  refuse(
    MOMENTS.filter((name) => typeof wanted[name] === 'string' && !readMoment(wanted[name])).map((name) =>
      problem([name], `${name} ${MOMENT_RULE}`),
    ),
  );
  return json(202, entityOf(await deliveries.redeliverAll(workspaceId, filterOf(wanted))));
};

/** Form of its id: its position in the table. */
const ID = /^[1-9]\d{0,17}$/;

const read: PlatformHandler = async (request, { deliveries }, { workspaceId }) => {
  const id = idOf(request, 'redelivery_id', WHAT);
  const redelivery = ID.test(id) ? await deliveries.redelivery(id, workspaceId) : undefined;
  return json(200, entityOf(found(redelivery, WHAT)));
};

const REDELIVERIES = '/v1/agent/redeliveries';

export const REDELIVERY_ROWS: readonly PlatformRow[] = tagged('deliveries', [
  {
    method: 'POST',
    path: REDELIVERIES,
    permission: 'manage',
    handler: create,
    audit: { action: 'deliveries.redelivered', subject: 'redelivery_id' },
    description: {
      summary: 'Deliver many again',
      operationId: 'createRedelivery',
      description:
        'In the background, in the order of their events: all failed deliveries of the workspace, or those that fit. One more attempt ' +
        `each, as with a single one; those that were sent again ${redeliveries.perDelivery} times, or whose agent was deleted, are left out.`,
      requestBody: jsonBody(RedeliveryRequest),
      responses: {
        ...answers(202, 'It is worked off', RedeliveryEntity),
        ...bodyFailures(),
        ...answers(409, 'An earlier one of the workspace is still worked off', ErrorBody),
      },
    },
  },
  {
    method: 'GET',
    path: `${REDELIVERIES}/{redelivery_id}`,
    permission: 'records',
    handler: read,
    description: {
      summary: 'Read how far it is',
      operationId: 'readRedelivery',
      responses: { ...answers(200, 'The redelivery', RedeliveryEntity), ...failures(404) },
    },
  },
]);
