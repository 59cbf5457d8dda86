/**
 * Making a session (spec "Session creation"; decisions.md fine point 12). The checks stand in the order in which their
 * errors win: malformed JSON 400, key 401, shape 422, agent 404, public or origin 403, rate 429, refused override or
 * name 400, values 422, state 409, quota 402. A request without any Authorization header is a public one.
 */
import { ServiceError } from '../../../../contracts/errors.js';
import type { Language } from '../../../../contracts/languages.js';
import type {
  Agent,
  PublishedAgents,
  RunnableAgent,
  RunnableVersion,
} from '../../../../contracts/ports/agents.js';
import type { Admission, Caller, KeyAuthority } from '../../../../contracts/ports/identity.js';
import { IDENTITIES } from '../../../../contracts/ports/calls.js';
import type { PublicLimits } from '../../../../contracts/ports/public-limits.js';
import type {
  SessionRecord,
  SessionRuns,
  Sessions,
  SessionSource,
} from '../../../../contracts/ports/sessions.js';
import type { TokenCounter } from '../../../../contracts/ports/tokens.js';
import type { SessionTransport } from '../../../../contracts/ports/transport.js';
import type { Vocabulary } from '../../../../contracts/vocabulary.js';
import { authenticate } from '../../../server/auth.js';
import type { HttpRequest, Reply } from '../../../server/port.js';
import { readBody, readOptionalBody } from '../bodies.js';
import { checked } from '../checked.js';
import { refuse } from '../errors.js';
import { found, idOf, json } from '../rows.js';
import { admitOrigin, limitedAddress } from './origin.js';
import { planOf } from './plan.js';
import { PreviewRequest, SessionRequest } from './schema.js';
import { permit, sentOverrides, valueProblems, type Wanted } from './values.js';

export interface CreationParts {
  readonly keys: KeyAuthority;
  readonly agents: PublishedAgents;
  readonly sessions: Sessions;
  readonly limits: PublicLimits;
  readonly admission: Pick<Admission, 'check'>;
  readonly tokens: TokenCounter;
  /** Whether a configured engine can recognise the language. */
  hears(language: Language): boolean;
  readonly transport: SessionTransport;
  readonly runs: Pick<SessionRuns, 'end'>;
  readonly vocabulary: Vocabulary;
}

const checkRequest = checked(SessionRequest);
const checkPreview = checked(PreviewRequest);

const conflict = (message: string): ServiceError => new ServiceError('conflict', { message });

/** Errors: `conflict`. */
function publishedOf({ agent, version }: RunnableAgent): RunnableVersion {
  if (agent.status === 'archived') throw conflict('Agent is archived');
  if (!version) throw conflict('Agent has no published version');
  return version;
}

/** A visitor does not learn of the owner's account. Errors: `quota_exceeded`, `forbidden`. */
async function checkQuota({ workspaceId }: Agent, isPublic: boolean, parts: CreationParts): Promise<void> {
  try {
    for (const kind of ['conversation_ms', 'synthesis_characters'] as const)
      await parts.admission.check(workspaceId, kind);
  } catch (error) {
    const spent = error instanceof ServiceError && error.code === 'quota_exceeded';
    if (spent && isPublic) throw new ServiceError('forbidden', { message: 'Agent is unavailable' });
    throw error;
  }
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

/** From the refused overrides to the answer: what is the same however the session was asked for. */
async function start(
  runnable: RunnableAgent,
  wanted: Wanted,
  source: SessionSource,
  request: HttpRequest,
  parts: CreationParts,
): Promise<Reply> {
  const { agent } = runnable;
  const isPublic = source === 'public';
  permit(wanted, agent.overridesAllowed, isPublic);
  refuse(await valueProblems(wanted, parts.tokens));
  const isPreview = source === 'dashboard';
  const version = publishedOf(runnable);
  const plan = planOf(version, wanted, isPreview);
  const { speaking_language: language } = plan.config.voice;
  if (!parts.hears(language)) throw conflict(`No speech recognition for "${language}"`);
  await checkQuota(agent, isPublic, parts);
  const record = await parts.sessions.create({
    workspaceId: agent.workspaceId,
    agentId: agent.id,
    agentName: agent.name,
    versionNumber: isPreview ? null : version.number,
    source,
    name: wanted.name ?? null,
    endUserId: wanted.end_user_id ?? null,
    metadata: wanted.metadata ?? {},
    overrides: sentOverrides(wanted),
    plan,
  });
  await parts.transport.prepare({ record, plan }).catch(async (error: unknown) => {
    await parts.runs.end(record.id, 'error');
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

/** Errors: `forbidden`, `rate_limited`. */
async function admitPublic(
  { agent }: RunnableAgent,
  request: HttpRequest,
  { limits }: CreationParts,
): Promise<void> {
  admitOrigin(agent, request);
  const full = await limits.take(limitedAddress(request.clientAddress), agent.id);
  if (!full) return;
  const whose = full.full === 'agent' ? 'this agent' : 'this address';
  throw new ServiceError('rate_limited', {
    message: `Too many sessions for ${whose}, try again later`,
    retryAfter: full.retryAfter,
  });
}

/** `POST /v1/agent/sessions`. */
export async function create(request: HttpRequest, parts: CreationParts): Promise<Reply> {
  const body = await readBody(request);
  const isPublic = !request.headers.has('authorization');
  const caller = isPublic ? undefined : await authenticate(request, parts.keys);
  const { agent_id: agentId, ...wanted } = checkRequest(body);
  const agent = await agentFor(agentId, caller?.workspaceId, parts);
  if (isPublic) await admitPublic(agent, request, parts);
  return start(agent, wanted, isPublic ? 'public' : 'api_key', request, parts);
}

/** `POST /v1/agent/agents/{agent_id}/preview`: the draft, for its owner. */
export async function preview(request: HttpRequest, parts: CreationParts): Promise<Reply> {
  const body = await readOptionalBody(request);
  const { workspaceId }: Caller = await authenticate(request, parts.keys);
  const wanted = checkPreview(body);
  const draft = await parts.agents.draft(idOf(request, 'agent_id', 'Agent'), workspaceId);
  return start(found(draft, 'Agent'), wanted, 'dashboard', request, parts);
}

/** `GET /v1/agent/agents/{agent_id}/widget`: what a page shows before a call; the same gate, no key. */
export async function widget(request: HttpRequest, parts: CreationParts): Promise<Reply> {
  const { agent } = await agentFor(idOf(request, 'agent_id', 'Agent'), undefined, parts);
  admitOrigin(agent, request);
  return json(200, { agent_name: agent.name });
}
