/**
 * Sessions of calls by one WebSocket. Their client connects first and says then what it wants otherwise, so what the agent does not
 * allow is left as it is, where a request for a session is refused.
 */
import { ServiceError } from '../../../../contracts/errors.js';
import { type Ids, isId } from '../../../../contracts/ids.js';
import type { RunnableAgent } from '../../../../contracts/ports/agents/agents.js';
import type { PublicLimits } from '../../../../contracts/ports/sessions/public-limits.js';
import type { RunningSession, SessionRuns } from '../../../../contracts/ports/sessions/sessions.js';
import type {
  SessionDetails,
  SettledSession,
  SocketClient,
  SocketSession,
  SocketSessions,
  WantedSession,
} from '../../../../contracts/ports/sessions/socket-sessions.js';
import { plannedTools } from '../../../../contracts/agents/plan.js';
import { RawJson } from '../../../../contracts/text/raw-json.js';
import { checker } from '../../../../contracts/schemas/check.js';
import { strict } from '../../../../contracts/schemas/shapes.js';
import { checked } from '../checked.js';
import { notFound } from '../errors.js';
import { found } from '../rows.js';
import { refuseFull } from './creation.js';
import { checkSession, type MakingParts, makeSession, type Origin } from './making.js';
import { admitOrigin } from './origin.js';
import type { RefusalLimit } from './refusal-limit.js';
import type { SessionFields } from './request.js';
import { CALLED_FIELDS, Overrides } from './schema.js';

export interface SocketSessionParts extends MakingParts {
  readonly limits: PublicLimits;
  readonly refusals: RefusalLimit;
  readonly runs: Pick<SessionRuns, 'end'>;
  readonly ids: Ids;
}

const fieldsOf = (overrides: WantedSession): SessionFields => ({
  metadata: new RawJson('{}'),
  overrides: { ...overrides },
});

const checkShape = checker(Overrides);

const { overrides, dynamic_variables, end_user_id } = CALLED_FIELDS;
/** Errors: `validation_failed`. */
const checkFields = checked(strict({ overrides, dynamic_variables, end_user_id }));

const NAMES = ['first_message', 'system_prompt', 'voice_id', 'language'] as const;

class Session implements SocketSession {
  constructor(
    readonly id: string,
    private readonly runnable: RunnableAgent & { readonly version: NonNullable<RunnableAgent['version']> },
    private readonly origin: Origin,
    private readonly parts: SocketSessionParts,
  ) {}

  get workspaceId(): string {
    return this.runnable.agent.workspaceId;
  }

  get agentId(): string {
    return this.runnable.agent.id;
  }

  get config() {
    return this.runnable.version.config;
  }

  get tools() {
    const tools = this.config.tools.enabled ? plannedTools(this.runnable.version) : [];
    return tools.filter(({ definition }) => definition.tool_type === 'client');
  }

  /** Each wish is tried with those that were granted before it: a voice must speak the language. */
  async settle(wanted: WantedSession): Promise<SettledSession> {
    let overrides: WantedSession = {};
    const kept: (keyof WantedSession)[] = [];
    for (const name of NAMES) {
      const value = wanted[name];
      if (value === undefined) continue;
      const tried = { ...overrides, [name]: value };
      if (await this.#isAllowed(tried)) overrides = tried;
      else kept.push(name);
    }
    return { overrides, kept };
  }

  async #isAllowed(overrides: WantedSession): Promise<boolean> {
    if (!checkShape(overrides).ok) return false;
    try {
      await checkSession(this.runnable, fieldsOf(overrides), this.origin, this.parts);
      return true;
    } catch (error) {
      const isOurs = error instanceof ServiceError && REFUSALS.has(error.code);
      if (!isOurs) throw error;
      return false;
    }
  }

  async begin(overrides: WantedSession, details: SessionDetails = {}): Promise<void> {
    checkFields({ overrides, ...details });
    const wanted = { ...fieldsOf(overrides), ...details };
    await makeSession(this.runnable, wanted, this.origin, this.parts);
  }

  async failed(): Promise<void> {
    await this.parts.runs.end(this.id, 'error');
  }
}

/** The wishes that are in force. */
function overridesOf({ record }: RunningSession): WantedSession {
  const given = Object.fromEntries(NAMES.map((name) => [name, record.overrides[name]]));
  const kept = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { ok } = checkShape(kept);
  return ok ? kept : {};
}

/** A session that has begun elsewhere. Without its agent, which may have gone meanwhile, nothing of it can be changed. */
async function goesOn(
  running: RunningSession,
  parts: SocketSessionParts,
): Promise<Awaited<ReturnType<SocketSessions['goesOn']>>> {
  const { record, plan } = running;
  const { id, workspaceId, agentId } = record;
  const agent = await find(agentId, { workspaceId }, parts).catch((error: unknown) => {
    if (error instanceof ServiceError) return undefined;
    throw error;
  });
  const overrides = overridesOf(running);
  const session: SocketSession = {
    ...{ id, workspaceId, agentId, config: plan.config },
    tools: plan.tools.filter(({ definition }) => definition.tool_type === 'client'),
    settle: (wanted) =>
      agent?.settle(wanted) ?? Promise.resolve({ overrides, kept: NAMES.filter((name) => name in wanted) }),
    begin: () => Promise.resolve(),
    failed: async () => void (await parts.runs.end(id, 'error')),
  };
  return { session, overrides };
}

/** By telephone nobody comes back so, and a chat is no call. */
async function mayGoOn(
  id: string,
  workspaceId: string,
  agentId: string | undefined,
  { sessions }: SocketSessionParts,
): Promise<boolean> {
  const found = await sessions.read(id, workspaceId);
  if (!found || found.status !== 'active' || found.direction !== null || found.source === 'chat')
    return false;
  return agentId === undefined || found.agentId === agentId;
}

/** With which an override is refused: not allowed, no sense in it, or no recognition of the language. */
const REFUSALS: ReadonlySet<string> = new Set(['unsupported_option', 'validation_failed', 'conflict']);

/** The agent and where its session comes from, in the order of the checks of sessions (docs/contract/decisions.md 12). */
async function admitted(
  agentId: string,
  client: SocketClient,
  parts: SocketSessionParts,
): Promise<{ readonly runnable: RunnableAgent; readonly origin: Origin }> {
  if ('workspaceId' in client) {
    const runnable = found(await parts.agents.find(agentId, client.workspaceId), 'Agent');
    return { runnable, origin: { source: 'api_key', reserved: true } };
  }
  const { address } = client;
  const { limits } = parts;
  refuseFull(await limits.fullAddress(address));
  const runnable = found(await parts.agents.find(agentId, undefined), 'Agent');
  admitOrigin(runnable.agent, client);
  refuseFull(await limits.full(address, agentId));
  const admit = async (): Promise<void> => refuseFull(await limits.countSession(address, agentId));
  return { runnable, origin: { source: 'public', reserved: true, admit } };
}

async function find(
  agentId: string,
  client: SocketClient,
  parts: SocketSessionParts,
): Promise<SocketSession> {
  if (!isId(agentId)) throw notFound('Agent');
  const { runnable, origin } = await admitted(agentId, client, parts);
  const { version } = await checkSession(runnable, fieldsOf({}), origin, parts);
  const id = parts.ids.next('session');
  return new Session(id, { ...runnable, version }, { ...origin, id }, parts);
}

export const socketSessions = (parts: SocketSessionParts): SocketSessions => ({
  find: (agentId, client) =>
    'workspaceId' in client
      ? find(agentId, client, parts)
      : parts.refusals.run(client.address, () => find(agentId, client, parts)),
  mayGoOn: (id, workspaceId, agentId) => mayGoOn(id, workspaceId, agentId, parts),
  goesOn: (running) => goesOn(running, parts),
  async end(id, workspaceId) {
    if (!(await parts.sessions.has(id, workspaceId))) return false;
    await parts.runs.end(id, 'ended_by_api');
    return true;
  },
});
