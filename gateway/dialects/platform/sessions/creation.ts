/**
 * Creating a session (docs/contract/platform.md 6.6; docs/contract/decisions.md 12). The checks run in the order of their
 * errors' precedence: malformed JSON 400, key 401, shape 422, agent 404, public or origin 403, rate 429, refused override or
 * name 400, values 422, state 409, quota 402. A request without any Authorization header is a public one: the rate of its
 * address is looked at before its body.
 */
import { ServiceError } from '../../../../contracts/errors.js';
import type { RunnableAgent } from '../../../../contracts/ports/agents/agents.js';
import type { Caller, KeyAuthority } from '../../../../contracts/ports/accounts/identity.js';
import { IDENTITIES } from '../../../../contracts/ports/calls/calls.js';
import type { FullLimit, PublicLimits } from '../../../../contracts/ports/sessions/public-limits.js';
import type {
  SessionRecord,
  SessionRuns,
  SessionSource,
} from '../../../../contracts/ports/sessions/sessions.js';
import type { SessionTransport } from '../../../../contracts/ports/calls/transport.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { ErrorBody } from '../../../../contracts/schemas/shapes.js';
import type { Vocabulary } from '../../../../contracts/vocabulary.js';
import { authenticate } from '../../../server/auth.js';
import { networkOf } from '../../../server/client-address.js';
import { answers, jsonBody } from '../../../server/openapi/openapi-parts.js';
import type { HttpRequest, Reply, RouteDescription } from '../../../server/port.js';
import { json } from '../../../server/replies.js';
import { type RouteHandler, type RouteRow, tagged } from '../../../server/routes.js';
import { type JsonBody, OF_STRANGERS, readJsonBody, readOptionalJsonBody } from '../bodies.js';
import { notFound } from '../errors.js';
import { bodyFailures, failures, found, idOf } from '../rows.js';
import { type MakingParts, makeSession } from './making.js';
import { admitOrigin } from './origin.js';
import type { RefusalLimit } from './refusal-limit.js';
import { previewRequest, sessionRequest, type SessionFields } from './request.js';
import { PreviewRequest, SessionRequest, SessionResponse } from './schema.js';
import { WidgetEntity, widgetEntity } from './widget.js';

const FAILED = 500;

export interface CreationParts extends MakingParts {
  readonly keys: KeyAuthority;
  readonly limits: PublicLimits;
  readonly refusals: RefusalLimit;
  readonly transport: SessionTransport;
  readonly runs: Pick<SessionRuns, 'end'>;
  readonly vocabulary: Vocabulary;
}

async function response(record: SessionRecord, seconds: number, request: HttpRequest, parts: CreationParts) {
  const { transport, transportUrlField } = parts.vocabulary;
  const { url, joinTokens } = parts.transport;
  const claims = { sessionId: record.id, identity: IDENTITIES.user, use: 'join' } as const;
  return json(201, {
    session_id: record.id,
    expires_at: record.expiresAt.toISOString(),
    max_duration_seconds: seconds,
    transport,
    [transportUrlField]: url ?? request.baseUrl.replace(/^http/, 'ws'),
    token: await joinTokens.issue(claims, record.expiresAt),
  });
}

/** Errors: `rate_limited`. */
export function refuseFull(full: FullLimit | undefined): void {
  if (!full) return;
  const whose = full.full === 'agent' ? 'this agent' : 'this address';
  throw new ServiceError('rate_limited', {
    message: `Too many sessions for ${whose}, try again later`,
    retryAfter: full.retryAfter,
  });
}

/** Creates, carries and answers a session: the part that all requests share. */
async function start(
  runnable: RunnableAgent,
  wanted: SessionFields,
  source: SessionSource,
  request: HttpRequest,
  parts: CreationParts,
): Promise<Reply> {
  const { runs, transport } = parts;
  const admit = admitting(request, runnable.agent.id, parts);
  const session = await makeSession(
    runnable,
    wanted,
    source === 'public' ? { source, admit } : { source, reserved: transport.beginsAtOnce === true },
    parts,
  );
  const { record, plan } = session;
  await transport.prepare(session).catch(async (error: unknown) => {
    await runs.end(record.id, 'error');
    throw error;
  });
  return response(record, plan.maxDurationSeconds, request, parts);
}

async function agentFor(
  agentId: string,
  workspaceId: string | undefined,
  { agents }: CreationParts,
): Promise<RunnableAgent> {
  return found(await agents.find(agentId, workspaceId), 'Agent');
}

/**
 * The body of a request with a key, and its caller. The key is looked at first, so that little is read of whoever has none;
 * that it is wrong is said after a malformed body. Errors: those of `read` and `authenticate`.
 */
async function readWithKey(
  request: HttpRequest,
  { keys }: CreationParts,
  read: typeof readJsonBody,
): Promise<{ readonly body: JsonBody; readonly caller: Caller }> {
  const caller = await authenticate(request, keys).catch((error: unknown) => {
    if (error instanceof ServiceError && error.status < FAILED) return error;
    throw error;
  });
  if (!(caller instanceof ServiceError)) return { body: await read(request), caller };
  await read(request, OF_STRANGERS);
  throw caller;
}

/** A kind of session: how its request is read, and how it begins once the agent and whoever asks are known. */
export interface CreatedKind {
  readonly read: (body: JsonBody) => SessionFields & { readonly agent_id: string };
  readonly start: typeof start;
}

async function createWithKey(
  request: HttpRequest,
  { read, start: begin }: CreatedKind,
  parts: CreationParts,
): Promise<Reply> {
  const { body, caller } = await readWithKey(request, parts, readJsonBody);
  const { workspaceId } = caller;
  const { agent_id: agentId, ...wanted } = read(body);
  return begin(await agentFor(agentId, workspaceId, parts), wanted, 'api_key', request, parts);
}

async function createPublic(
  request: HttpRequest,
  { read, start: begin }: CreatedKind,
  address: string,
  parts: CreationParts,
): Promise<Reply> {
  const { limits } = parts;
  refuseFull(await limits.fullAddress(address));
  const { agent_id: agentId, ...wanted } = read(await readJsonBody(request, OF_STRANGERS));
  const runnable = await agentFor(agentId, undefined, parts);
  admitOrigin(runnable.agent, request);
  refuseFull(await limits.full(address, runnable.agent.id));
  return begin(runnable, wanted, 'public', request, parts);
}

type CreationHandler = RouteHandler<CreationParts, void>;

/** Creates sessions of that kind, for whoever may. */
export const creating =
  (kind: CreatedKind): CreationHandler =>
  async (request, parts) => {
    if (request.headers.has('authorization')) return createWithKey(request, kind, parts);
    const address = networkOf(request.clientAddress);
    return parts.refusals.run(address, () => createPublic(request, kind, address, parts));
  };

const create = creating({ read: sessionRequest, start });

/** The last check of a public session. Errors of the result: `rate_limited`. */
export const admitting =
  (request: HttpRequest, agentId: string, { limits }: Pick<CreationParts, 'limits'>) =>
  async (): Promise<void> =>
    refuseFull(await limits.countSession(networkOf(request.clientAddress), agentId));

/** A session on the draft or one of the versions, for the agent's owner. */
const preview: CreationHandler = async (request, parts) => {
  const { body, caller } = await readWithKey(request, parts, readOptionalJsonBody);
  const { workspaceId } = caller;
  const { version_number: number, ...wanted } = previewRequest(body);
  const id = idOf(request, 'agent_id', 'Agent');
  const finding = number
    ? parts.agents.version(id, workspaceId, number)
    : parts.agents.draft(id, workspaceId);
  const runnable = found(await finding, 'Agent');
  if (!runnable.version) throw notFound('Version');
  return start(runnable, wanted, 'dashboard', request, parts);
};

/** What pages show before a call, by the published version; needs no key, but an allowed origin as public sessions do. */
const widget: CreationHandler = async (request, parts) => {
  const { agent, version } = await agentFor(idOf(request, 'agent_id', 'Agent'), undefined, parts);
  admitOrigin(agent, request);
  return json(200, widgetEntity(agent.name, version?.config.widget));
};

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'Malformed JSON, or an override that the agent, or a request without a key, does not allow',
  402: 'Out of API credit',
  403: 'The agent is not public, or the page is not of one of its origins',
  409: 'The agent has no published version, is archived, or its language cannot be recognised',
  429: 'Too many sessions; `Retry-After` says when to come back',
};

/** Descriptions of the statuses that refuse a session. */
export const refusals = (...statuses: readonly number[]): RouteDescription['responses'] =>
  Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: REFUSALS[status] ?? '', content: { 'application/json': ErrorBody } },
    ]),
  );

const AGENT = '/v1/agent/agents/{agent_id}';
const { ip, agent: perAgent } = LIMITS.session.publicPerMinute;

const WIDGET_ROW: RouteRow<CreationParts, void> = {
  method: 'GET',
  path: `${AGENT}/widget`,
  // Shown on public pages before a call.
  permission: 'open',
  handler: widget,
  description: {
    summary: 'What a page shows before a call',
    operationId: 'readWidget',
    description: 'The section `widget` of the published configuration; fields without a value are absent.',
    auth: false,
    responses: { ...answers(200, 'The agent', WidgetEntity), ...failures(404), ...refusals(403) },
  },
};

/** `vocabulary` names members of the response. */
export function creationRows(vocabulary: Vocabulary): readonly RouteRow<CreationParts, void>[] {
  const made = answers(201, 'What a client joins with', SessionResponse(vocabulary));
  return tagged('sessions', [
    {
      method: 'POST',
      path: '/v1/agent/sessions',
      permission: 'sessions',
      handler: create,
      description: {
        summary: 'Create a session',
        description:
          'With a key for any agent of the workspace. Without any Authorization header for a public agent, from a page of one ' +
          `of its origins; then at most ${ip} a minute from one address and ${perAgent} of one agent, unless configured otherwise, ` +
          '`name` is refused, and only `language` and `voice_id` may be overridden.',
        requestBody: jsonBody(SessionRequest),
        responses: { ...made, ...bodyFailures(404), ...refusals(400, 402, 403, 409, 429) },
      },
    },
    {
      method: 'POST',
      path: `${AGENT}/preview`,
      // Runs the draft, so it needs the right to change it.
      permission: 'manage',
      handler: preview,
      audit: { action: 'agent.previewed', subject: 'agent_id' },
      description: {
        summary: "Try an agent's draft, or one of its versions",
        operationId: 'previewAgent',
        description:
          `A session on the draft or a version, ${LIMITS.session.previewSeconds / 60} minutes at most. Webhooks get nothing, and lists do not ` +
          'show it.',
        requestBody: jsonBody(PreviewRequest),
        bodyIsOptional: true,
        responses: { ...made, ...bodyFailures(404), ...refusals(400, 402, 409, 429) },
      },
    },
    WIDGET_ROW,
  ]);
}
