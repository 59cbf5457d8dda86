/** The routes of sessions, and what /openapi.json says of them. */
import { LIMITS } from '../../../../contracts/limits.js';
import { ErrorBody } from '../../../../contracts/schemas/shapes.js';
import type { HttpHandler, Route, RouteDescription } from '../../../server/port.js';
import { Page, PAGING } from '../paging.js';
import { answers, bodyFailures, failures, jsonBody, queryParameter } from '../rows.js';
import { create, type CreationParts, preview, widget } from './creation.js';
import { recordingFileRoute } from './recording-file.js';
import { authenticated, end, LIST, list, read, type ReadingParts, recording } from './routes.js';
import {
  PreviewRequest,
  RecordingEntity,
  ROW_EXAMPLE,
  SessionEntity,
  SessionRequest,
  SessionResponse,
  SessionRow,
  WidgetEntity,
} from './schema.js';

export type SessionRoutesParts = CreationParts & ReadingParts;

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'Malformed JSON, or an override that the agent, or a request without a key, does not allow',
  402: 'Out of API credit',
  403: 'The agent is not public, or the page is not of one of its origins',
  409: 'The agent has no published version, is archived, or its language cannot be recognised',
  429: 'Too many sessions; `Retry-After` says when to come back',
};

/** What may be said to somebody who wants a session. */
const refusals = (...statuses: readonly number[]): RouteDescription['responses'] =>
  Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: REFUSALS[status] ?? '', content: { 'application/json': ErrorBody } },
    ]),
  );

const SESSIONS = { tags: ['sessions'], auth: true } as const;

const Text = { type: 'string' };
const DateTime = { type: 'string', format: 'date-time' };

const FILTERS = [
  queryParameter('agent_id', Text, 'Only sessions of this agent.'),
  queryParameter('status', Text, 'One or several, separated by commas. Absent: all but `pending`.'),
  queryParameter('caller_number', Text, 'Only calls from this number.'),
  queryParameter('created_after', DateTime, 'Not before this moment.'),
  queryParameter('created_before', DateTime, 'Not after this moment.'),
];

function creating(parts: SessionRoutesParts): readonly Route[] {
  const made = answers(201, 'What a client joins with', SessionResponse(parts.vocabulary));
  const route = (
    method: Route['method'],
    path: string,
    handler: HttpHandler,
    description: RouteDescription,
  ): Route => ({
    method,
    path,
    handler,
    description,
  });
  const { ip, agent } = LIMITS.session.publicPerMinute;
  return [
    route('POST', '/v1/agent/sessions', (request) => create(request, parts), {
      summary: 'Create a session',
      description:
        'With a key for any agent of the workspace. Without any Authorization header for a public agent, from a page of one ' +
        `of its origins; then at most ${ip} a minute from one address and ${agent} of one agent, unless configured otherwise, ` +
        '`name` is refused, and only `language` and `voice_id` may be overridden.',
      ...SESSIONS,
      requestBody: jsonBody(SessionRequest),
      responses: { ...made, ...bodyFailures(404), ...refusals(400, 402, 403, 409, 429) },
    }),
    route('POST', '/v1/agent/agents/{agent_id}/preview', (request) => preview(request, parts), {
      summary: "Try an agent's draft",
      description:
        `A session on the draft, ${LIMITS.session.previewSeconds / 60} minutes at most. Nothing is delivered, and lists do not ` +
        'show it.',
      ...SESSIONS,
      requestBody: jsonBody(PreviewRequest),
      bodyIsOptional: true,
      responses: { ...made, ...bodyFailures(404), ...refusals(400, 402, 409, 429) },
    }),
    route('GET', '/v1/agent/agents/{agent_id}/widget', (request) => widget(request, parts), {
      summary: 'What a page shows before a call',
      tags: SESSIONS.tags,
      auth: false,
      responses: { ...answers(200, 'The agent', WidgetEntity), ...failures(404), ...refusals(403) },
    }),
  ];
}

const READING = [
  {
    method: 'GET',
    path: '/v1/agent/sessions',
    handler: list,
    description: {
      summary: 'List sessions',
      description: 'Newest first.',
      ...SESSIONS,
      parameters: [...FILTERS, ...PAGING],
      responses: { ...answers(200, 'One page', Page(LIST, SessionRow, ROW_EXAMPLE)), ...failures(400) },
    },
  },
  {
    method: 'GET',
    path: '/v1/agent/sessions/{session_id}',
    handler: read,
    description: {
      summary: 'Read a session',
      ...SESSIONS,
      responses: { ...answers(200, 'The session with its record', SessionEntity), ...failures(404) },
    },
  },
  {
    method: 'GET',
    path: '/v1/agent/sessions/{session_id}/recording',
    handler: recording,
    description: {
      summary: "Read a session's recording",
      ...SESSIONS,
      responses: { ...answers(200, 'The recording', RecordingEntity), ...failures(404) },
    },
  },
  {
    method: 'POST',
    path: '/v1/agent/sessions/{session_id}/end',
    handler: end,
    description: {
      summary: 'End a session',
      description:
        'At once, wherever its conversation runs. The record stays. Ending it again changes nothing.',
      ...SESSIONS,
      responses: { ...answers(204, 'Ended'), ...failures(404) },
    },
  },
] as const;

export const sessionRoutes = (parts: SessionRoutesParts): readonly Route[] => [
  ...creating(parts),
  ...READING.map(({ handler, ...row }) => ({ ...row, handler: authenticated(handler, parts) })),
  recordingFileRoute(parts.recordings),
];
