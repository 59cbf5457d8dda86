/** Creates a session from a checked and admitted request, for every source and transport. */
import type { Clock } from '../../../../contracts/clock.js';
import { ServiceError, toServiceError } from '../../../../contracts/errors.js';
import type { Language } from '../../../../contracts/speech/languages.js';
import type {
  Agent,
  PublishedAgents,
  RunnableAgent,
  RunnableVersion,
} from '../../../../contracts/ports/agents/agents.js';
import type { Admission } from '../../../../contracts/ports/accounts/identity.js';
import type { PhoneLeg } from '../../../../contracts/phone/phone.js';
import type { PhoneSessions } from '../../../../contracts/ports/phone/phone.js';
import type {
  RunningSession,
  SessionPlan,
  SessionRecord,
  Sessions,
  SessionSource,
} from '../../../../contracts/ports/sessions/sessions.js';
import type { TokenCounter } from '../../../../contracts/ports/tokens.js';
import { RawJson } from '../../../../contracts/text/raw-json.js';
import { refuse } from '../errors.js';
import { found } from '../rows.js';
import { type VoiceCheck, voiceProblems } from '../voice-check.js';
import { askedBefore, type Coming, type InitParts, isAsked, withoutIt } from './init.js';
import { planOf } from './plan.js';
import type { SessionFields } from './request.js';
import { pinnedAgents } from './transfers.js';
import { permit, sentOverrides, valueProblems } from './values.js';

export interface MakingParts extends InitParts {
  readonly agents: PublishedAgents;
  readonly sessions: Sessions;
  readonly admission: Pick<Admission, 'check'>;
  readonly tokens: TokenCounter;
  readonly speech: VoiceCheck;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Whether a configured engine can recognise the language. */
  transcribes(language: Language): boolean;
}

export interface Origin {
  readonly source: SessionSource;
  /** The last check: it counts against a rate limit, and requests refused earlier must not. */
  readonly admit?: () => Promise<void>;
  readonly leg?: PhoneLeg;
  /** It is a chat, from wherever: without voice. */
  readonly inWriting?: boolean;
  /** As of a `NewSession`. */
  readonly reserved?: boolean;
  readonly joinMs?: number;
  readonly id?: string;
}

const conflict = (message: string): ServiceError => new ServiceError('conflict', { message });

/** Errors: `conflict`. */
export function publishedOf({ agent, version }: RunnableAgent): RunnableVersion {
  if (agent.status === 'archived') throw conflict('Agent is archived');
  if (!version) throw conflict('Agent has no published version');
  return version;
}

/** Errors: `quota_exceeded`. */
async function checkQuota(
  { workspaceId }: Agent,
  inWriting: boolean,
  { admission }: MakingParts,
): Promise<void> {
  await admission.check(workspaceId, 'conversation_ms');
  if (!inWriting) await admission.check(workspaceId, 'synthesis_characters');
}

/** Errors: `validation_failed` if nobody could speak so, `conflict` if nobody would understand it. */
async function checkSpeech(
  { config: { voice } }: SessionPlan,
  wanted: SessionFields,
  { workspaceId }: Agent,
  parts: MakingParts,
): Promise<void> {
  refuse(await voiceProblems(voice, workspaceId, parts.speech, voicePlace(wanted)));
  const { speaking_language: language } = voice;
  if (!parts.transcribes(language)) throw conflict(`No speech recognition for "${language}"`);
}

/** The member of the request that names the session's voice: an override, else the agent. */
function voicePlace(wanted: SessionFields): readonly string[] {
  const { voice_id: voice, language } = sentOverrides(wanted);
  if (voice !== undefined) return ['overrides', 'voice_id'];
  return language === undefined ? ['agent_id'] : ['overrides', 'language'];
}

/** A withheld number becomes an empty variable, so that no placeholder is read out. */
const numbersOf = ({ callerNumber, dialedNumber }: PhoneLeg) => ({
  caller_number: callerNumber ?? '',
  dialed_number: dialedNumber ?? '',
});

/** Adds the numbers of a phone call as variables, beyond the limit of a request; the request's own variables win. */
const withNumbers = (wanted: SessionFields, leg: PhoneLeg | undefined): SessionFields =>
  leg ? { ...wanted, dynamic_variables: { ...numbersOf(leg), ...wanted.dynamic_variables } } : wanted;

/** A session that may be made, and its plan with other variables. */
interface CheckedSession {
  readonly version: RunnableVersion;
  readonly plan: SessionPlan;
  planFor(fields: SessionFields): SessionPlan;
}

/** The plan with the variables for which its owner is asked now, before the call; the request's own win over them. */
async function initialised(
  { plan, planFor }: Omit<CheckedSession, 'version'>,
  wanted: SessionFields,
  origin: Omit<Coming, 'timezone'>,
  parts: MakingParts,
): Promise<SessionPlan> {
  const { conversation_init: init } = plan.config.webhooks;
  if (!init || !isAsked(init, origin)) return plan;
  const coming = { ...origin, timezone: plan.timezone };
  const answered = await askedBefore(init, coming, parts);
  try {
    const variables = { ...answered.variables, ...wanted.dynamic_variables };
    return { ...planFor({ ...wanted, dynamic_variables: variables }), init: answered.outcome };
  } catch (error) {
    const { message } = toServiceError(error);
    return { ...plan, init: withoutIt(answered, message, init, coming, parts).outcome };
  }
}

/** The version and the plan of a session that may be made: the overrides and everything after them, but for `admit`, are checked. */
export async function checkSession(
  runnable: RunnableAgent,
  wanted: SessionFields,
  { source, leg, inWriting = false }: Pick<Origin, 'source' | 'leg' | 'inWriting'>,
  parts: MakingParts,
): Promise<CheckedSession> {
  const { agent } = runnable;
  permit(wanted, agent.overridesAllowed, source === 'public');
  refuse(await valueProblems(wanted, { workspaceId: agent.workspaceId, isLive: true }, parts.tokens));
  const isPreview = source === 'dashboard';
  const version = publishedOf(runnable);
  const reachable = await pinnedAgents(version.config, agent.workspaceId, parts);
  const circumstances = { now: new Date(parts.clock.now()), leg, inWriting, agents: reachable };
  const planFor = (fields: SessionFields): SessionPlan =>
    planOf(version, withNumbers(fields, leg), isPreview, circumstances);
  const plan = planFor(wanted);
  if (!inWriting) await checkSpeech(plan, wanted, agent, parts);
  await checkQuota(agent, inWriting, parts);
  return { version, plan, planFor };
}

/** Checks the session and creates it. */
export async function makeSession(
  runnable: RunnableAgent,
  wanted: SessionFields,
  origin: Origin,
  parts: MakingParts,
): Promise<RunningSession> {
  const { agent } = runnable;
  const { source, admit, leg, inWriting, reserved = leg !== undefined, joinMs, id } = origin;
  const { version, ...checked } = await checkSession(runnable, wanted, origin, parts);
  await admit?.();
  const plan = await initialised(checked, wanted, { agentId: agent.id, source, leg }, parts);
  const record = await parts.sessions.create({
    workspaceId: agent.workspaceId,
    agentId: agent.id,
    agentName: agent.name,
    versionNumber: version.number === 0 ? null : version.number,
    source: inWriting ? 'chat' : source,
    name: wanted.name ?? null,
    endUserId: wanted.end_user_id ?? null,
    metadata: wanted.metadata,
    overrides: sentOverrides(wanted),
    ...(leg && { leg }),
    reserved,
    ...(joinMs !== undefined && { joinMs }),
    ...(id !== undefined && { id }),
    plan,
  });
  return { record, plan };
}

/** Sessions of phone calls: no client gets credentials; the provider's stream joins them. */
export const phoneSessions = (parts: MakingParts): PhoneSessions => ({
  async begin(agentId, workspaceId, leg): Promise<SessionRecord> {
    const runnable = found(await parts.agents.find(agentId, workspaceId), 'Agent');
    const wanted = { metadata: new RawJson('{}') };
    return (await makeSession(runnable, wanted, { source: 'phone', leg }, parts)).record;
  },
});
