/** Deliveries of post-call events, their attempts, and trying a webhook (docs/contract/platform.md 6.8). */
import { LIMITS } from '../../../contracts/limits.js';
import {
  DELIVERY_EVENTS,
  type DeliveryAttempt,
  type DeliveryRecord,
  isTaken,
} from '../../../contracts/ports/sessions/deliveries.js';
import { DELIVERY_STATUSES } from '../../../contracts/sessions/delivery-states.js';
import { testBody } from '../../../contracts/sessions/post-call.js';
import { ErrorBody, Moment, nullable, strict, text } from '../../../contracts/schemas/shapes.js';
import { Type } from '../../../contracts/schemas/type.js';
import { answers, jsonBody, queryParameter } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { agentIdOf } from './agents.js';
import { readBody } from './bodies.js';
import { checked } from './checked.js';
import { notFound, problem, refuse } from './errors.js';
import { momentOf } from './moments.js';
import { oneOf, Page, pageBody, pageRequest, PAGING, textOf } from './paging.js';
import { bodyFailures, failures, found, type PlatformHandler, type PlatformRow } from './rows.js';

const { url: urlLength, redeliveries } = LIMITS.postCallWebhook;
const WHAT = 'Delivery';

const ANSWER = {
  duration_ms: Type.Integer({ minimum: 0 }),
  status_code: nullable(Type.Integer({ description: 'Null if there was no answer.' })),
  error: nullable(
    Type.String({
      description:
        'Why there was no answer: `refused` (an address that may not be used), `unresolved`, `unreachable`, `timeout`, `internal`.',
    }),
  ),
};

const DELIVERY = {
  delivery_id: Type.String(),
  event_id: Type.String({
    description: 'Names the event, in its body and its header; the same at each webhook.',
  }),
  session_id: Type.String(),
  agent_id: Type.String(),
  event: Type.Enum([...DELIVERY_EVENTS]),
  url: Type.String(),
  status: Type.Enum([...DELIVERY_STATUSES]),
  created_at: nullable(Moment),
  next_attempt_at: nullable(Type.String({ format: 'date-time', description: 'While it waits.' })),
  settled_at: nullable(Moment),
  attempts: Type.Array(
    Type.Object({
      number: Type.Integer({ minimum: 1 }),
      started_at: Moment,
      ...ANSWER,
      redelivery: Type.Boolean({
        description: 'Requested by a redelivery; such an attempt is not repeated by itself.',
      }),
    }),
  ),
};

const EXAMPLE = {
  delivery_id: '4711',
  event_id: 'evt_5f0c8a1b2c3d4e5f60718293',
  session_id: 'sess_5f0c8a1b2c3d4e5f60718293',
  agent_id: 'agent_5f0c8a1b2c3d4e5f60718293',
  event: 'call.ended',
  url: 'https://hooks.example.com/calls',
  status: 'delivered',
  created_at: '2026-01-01T12:00:00.000Z',
  next_attempt_at: null,
  settled_at: '2026-01-01T12:00:00.250Z',
  attempts: [
    {
      number: 1,
      started_at: '2026-01-01T12:00:00.010Z',
      duration_ms: 240,
      status_code: 200,
      error: null,
      redelivery: false,
    },
  ],
};

const DeliveryRow = Type.Object(DELIVERY, { title: 'DeliverySummary', examples: [EXAMPLE] });
const DeliveryEntity = Type.Object(
  {
    ...DELIVERY,
    body: Type.String({ description: 'JSON, byte for byte as every attempt sends it.' }),
  },
  { title: 'Delivery', examples: [{ ...EXAMPLE, body: '{"event":"call.ended"}' }] },
);

const WebhookTest = strict(
  { url: text(urlLength, { description: "One of the draft's `webhooks.post_call`." }) },
  { examples: [{ url: EXAMPLE.url }] },
);
const WebhookTestResult = Type.Object(
  { ok: Type.Boolean({ description: 'Whether the answer was 2xx.' }), ...ANSWER },
  { title: 'WebhookTestResult', examples: [{ ok: true, duration_ms: 240, status_code: 200, error: null }] },
);

const attemptOf = ({ number, startedAt, durationMs, statusCode, error, redelivery }: DeliveryAttempt) => ({
  number,
  started_at: startedAt.toISOString(),
  duration_ms: durationMs,
  status_code: statusCode,
  error,
  redelivery,
});

const rowOf = (delivery: DeliveryRecord) => ({
  delivery_id: delivery.id,
  event_id: delivery.eventId,
  session_id: delivery.sessionId,
  agent_id: delivery.agentId,
  event: delivery.event,
  url: delivery.url,
  status: delivery.status,
  created_at: delivery.createdAt?.toISOString() ?? null,
  next_attempt_at: delivery.dueAt?.toISOString() ?? null,
  settled_at: delivery.settledAt?.toISOString() ?? null,
  attempts: delivery.attempts.map(attemptOf),
});

/** Form of a delivery's id: its position in the table. */
const ID = /^[1-9]\d{0,17}$/;

function deliveryIdOf({ params }: Parameters<PlatformHandler>[0]): string {
  const id = params['delivery_id'] ?? '';
  if (!ID.test(id)) throw notFound(WHAT);
  return id;
}

const list: PlatformHandler = async ({ query }, { deliveries }, { workspaceId }) => {
  const page = pageRequest(query, 'deliveries');
  const agentId = textOf(query, 'agent_id', LIMITS.session.agentId);
  const sessionId = textOf(query, 'session_id', LIMITS.session.agentId);
  const url = textOf(query, 'url', urlLength.max);
  const status = oneOf(query, 'status', DELIVERY_STATUSES);
  const createdAfter = momentOf(query, 'created_after');
  const createdBefore = momentOf(query, 'created_before');
  const filter = {
    ...(agentId !== undefined && { agentId }),
    ...(sessionId !== undefined && { sessionId }),
    ...(url !== undefined && { url }),
    ...(status && { status }),
    ...(createdAfter && { createdAfter }),
    ...(createdBefore && { createdBefore }),
  };
  const listed = await deliveries.list(workspaceId, filter, page);
  return json(200, pageBody('deliveries', 'deliveries', listed, rowOf));
};

const read: PlatformHandler = async (request, { deliveries }, { workspaceId }) => {
  const { body, ...delivery } = found(await deliveries.read(deliveryIdOf(request), workspaceId), WHAT);
  return json(200, { ...rowOf(delivery), body });
};

const redeliver: PlatformHandler = async (request, { deliveries }, { workspaceId }) =>
  json(202, rowOf(found(await deliveries.redeliver(deliveryIdOf(request), workspaceId), WHAT)));

const checkTest = checked(WebhookTest);

const test: PlatformHandler = async (request, { agents, sendToWebhook, ids, clock }, { workspaceId }) => {
  const { url } = checkTest(await readBody(request));
  const agentId = agentIdOf(request);
  const agent = found(await agents.read(agentId, workspaceId), 'Agent');
  const { config, configHash } = found(await agents.config(agentId, workspaceId), 'Agent');
  const own = config.webhooks.post_call.find((hook) => hook.url === url);
  refuse(own ? [] : [problem(['url'], "url must be one of the draft's webhooks")]);
  const eventId = ids.next('event');
  const body = testBody({ ...agent, eventId, configHash, now: new Date(clock.now()) });
  const answer = await sendToWebhook({ agentId, eventId, url, body, signed: own?.has_secret ?? false });
  return json(200, {
    ok: isTaken(answer),
    duration_ms: answer.durationMs,
    status_code: answer.statusCode,
    error: answer.error,
  });
};

const DELIVERIES = '/v1/agent/deliveries';
const Text = { type: 'string' };

export const DELIVERY_ROWS: readonly PlatformRow[] = tagged('deliveries', [
  {
    method: 'GET',
    path: DELIVERIES,
    // Deliveries quote the session, so reading them needs the right to read it.
    permission: 'records',
    handler: list,
    description: {
      summary: 'List deliveries',
      description:
        'Post-call events and every attempt to deliver them, newest first. Kept for seven days after the last attempt.',
      parameters: [
        queryParameter('agent_id', Text, 'Only events of this agent.'),
        queryParameter('session_id', Text, 'Only events of this session.'),
        queryParameter('url', Text, 'Only those to this webhook.'),
        queryParameter('status', { enum: DELIVERY_STATUSES }),
        queryParameter('created_after', Text, 'Of the event: a date or an RFC 3339 date-time.'),
        queryParameter('created_before', Text),
        ...PAGING,
      ],
      responses: { ...answers(200, 'One page', Page('deliveries', DeliveryRow)), ...failures(400) },
    },
  },
  {
    method: 'GET',
    path: `${DELIVERIES}/{delivery_id}`,
    permission: 'records',
    handler: read,
    description: {
      summary: 'Read a delivery',
      description: 'With its body.',
      responses: { ...answers(200, 'The delivery', DeliveryEntity), ...failures(404) },
    },
  },
  {
    method: 'POST',
    path: `${DELIVERIES}/{delivery_id}/redeliver`,
    permission: 'manage',
    handler: redeliver,
    audit: { action: 'delivery.redelivered', subject: 'delivery_id' },
    description: {
      summary: 'Deliver again',
      operationId: 'redeliver',
      description: `One more attempt, at once, with the same body and the current secret. ${redeliveries.perDelivery} times a delivery, and ${redeliveries.perMinute} deliveries of a workspace a minute (429).`,
      responses: {
        ...answers(202, 'It waits for its attempt', DeliveryRow),
        ...failures(404),
        ...answers(409, 'It waits already, was sent again too often, or its agent was deleted', ErrorBody),
        ...answers(429, 'Too many; `Retry-After` says for how long', ErrorBody),
      },
    },
  },
  {
    method: 'POST',
    path: '/v1/agent/agents/{agent_id}/webhooks/test',
    permission: 'manage',
    handler: test,
    audit: { action: 'webhook.tested', subject: 'agent_id' },
    description: {
      summary: 'Test a webhook',
      description:
        'Sends a `call.ended` of an invented call, with `"test": true`, signed like real ones. Nothing is stored; a failure is a result, not an error.',
      requestBody: jsonBody(WebhookTest),
      responses: { ...answers(200, 'What the webhook answered', WebhookTestResult), ...bodyFailures(404) },
    },
  },
]);
