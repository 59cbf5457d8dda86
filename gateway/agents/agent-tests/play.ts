/** Plays one scenario of a run: the conversation, then its checks. A missing result is an error, not a failed check. */
import { ServiceError } from '../../../contracts/errors.js';
import type {
  CheckResult,
  QueuedTest,
  TestOutcome,
  TestUsage,
} from '../../../contracts/ports/agents/agent-tests.js';
import type { AgentModels } from '../../../contracts/ports/agents/models.js';
import type { ChatModel } from '../../../contracts/ports/chat.js';
import type { SessionItem } from '../../../contracts/ports/sessions/sessions.js';
import type { Check } from '../../../contracts/schemas/agent-tests.js';
import { type LanguagesOf, ruled, turnsOf } from './checks.js';
import { type TestedAgentParts, converse, type ConversationOutcome } from './conversed.js';
import { PlayError } from './errors.js';
import { judged, JudgeError } from './judge.js';
import { type SimulatedUser, simulatedUser } from './simulated-user.js';
import { converseByVoice, type VoiceParts } from './voice/converse.js';

export interface PlayParts extends TestedAgentParts {
  /** The configured language model, which plays the user and judges; absent if there is none. */
  readonly model?: ChatModel;
  readonly languagesOf: LanguagesOf;
  /** Calls of simulated callers; absent if this gateway carries no calls. */
  readonly voice?: VoiceParts;
}

/** Longest time for judging. */
const JUDGE_MS = 120_000;
const NO_MODEL = 'No language model is configured';

/** Counts requests to the models. */
class Requests {
  agentRequests = 0;
  userRequests = 0;
  judgeRequests = 0;

  counted(chat: ChatModel, as: 'agentRequests' | 'userRequests' | 'judgeRequests'): ChatModel {
    return {
      ...chat,
      chat: (request, signal) => {
        this[as] += 1;
        return chat.chat(request, signal);
      },
    };
  }
}

/** Stands for a missing model: using it fails the scenario. */
const ABSENT: ChatModel = {
  name: 'none',
  chat: () => {
    throw new PlayError(NO_MODEL);
  },
};

type JudgedCheck = Check & { readonly type: 'judged' };
type RuledCheck = Check & { readonly type: Exclude<Check['type'], 'judged'> };

const isJudged = (check: Check): check is JudgedCheck => check.type === 'judged';
const isRuled = (check: Check): check is RuledCheck => !isJudged(check);

/** A failed check if the scenario exceeded its time limit. */
const limitChecks = ({ endedBy }: ConversationOutcome, seconds: number): readonly CheckResult[] =>
  endedBy === 'time_limit'
    ? [{ name: 'ends in time', type: 'limit', passed: false, evidence: `It took longer than ${seconds} s` }]
    : [];

async function checksOf(
  { definition, plan }: QueuedTest,
  conversed: ConversationOutcome,
  judge: ChatModel,
  { languagesOf, clock }: PlayParts,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const { checks, max_seconds: seconds } = definition;
  const late = new AbortController();
  const stop = clock.after(JUDGE_MS, () => late.abort(new JudgeError('The language model took too long')));
  const either = AbortSignal.any([signal, late.signal]);
  try {
    const judging = checks.filter(isJudged);
    const verdicts = [...(await judged(judging, plan, conversed.heard ?? conversed.items, judge, either))];
    const happened = { ...conversed, items: conversed.heard ?? conversed.items };
    const results: CheckResult[] = [];
    for (const check of checks) {
      const verdict = isRuled(check) ? await ruled(check, happened, languagesOf) : verdicts.shift();
      if (verdict) results.push(verdict);
    }
    return [...limitChecks(conversed, seconds), ...results];
  } finally {
    stop();
  }
}

const usageOf = (requests: Requests, items: readonly SessionItem[]): TestUsage => ({
  agentRequests: requests.agentRequests,
  userRequests: requests.userRequests,
  judgeRequests: requests.judgeRequests,
  toolCalls: items.filter(({ type }) => type === 'tool_call').length,
  turns: turnsOf(items),
});

/** The error code of the agent's model, if it failed and the agent apologised. */
const failureOf = (items: readonly SessionItem[]): string | undefined =>
  items.flatMap((item) => (item.type === 'message' && item.error !== undefined ? [item.error] : []))[0];

/** The message of an error. Other errors are neither the agent's fault nor the test's; the log has them. */
function messageOf(error: unknown): string {
  if (error instanceof PlayError || error instanceof JudgeError) return error.message;
  return error instanceof ServiceError
    ? 'The language model failed as the user'
    : 'The scenario could not be played';
}

/** By text or by voice. */
function conversationOf(
  test: QueuedTest,
  user: SimulatedUser,
  parts: PlayParts,
  signal: AbortSignal,
): Promise<ConversationOutcome> {
  if (test.definition.mode === 'text') return converse(test, user, parts, signal);
  const { voice } = parts;
  if (!voice) throw new PlayError('This gateway carries no calls of its own (livekit mode)');
  return converseByVoice(test, user, { ...parts, voice }, signal);
}

/** Errors: only the signal's reason, if it was aborted. */
export async function play(test: QueuedTest, parts: PlayParts, signal: AbortSignal): Promise<TestOutcome> {
  const requests = new Requests();
  const model = parts.model ?? ABSENT;
  const user = simulatedUser(test.definition.user, requests.counted(model, 'userRequests'));
  const models: AgentModels = {
    modelOf: (...asked) => requests.counted(parts.models.modelOf(...asked), 'agentRequests'),
  };
  const agent = { ...parts, models };
  let conversed: ConversationOutcome | undefined;
  const outcome = (status: TestOutcome['status'], error: string | null, checks: readonly CheckResult[]) => {
    const { items = [], endedBy = null, call = null } = conversed ?? {};
    return { status, error, endedBy, checks, usage: usageOf(requests, items), items, call };
  };
  try {
    conversed = await conversationOf(test, user, agent, signal);
    const failure = failureOf(conversed.items);
    if (failure !== undefined) return outcome('error', `The agent could not answer: ${failure}`, []);
    const judge = requests.counted(model, 'judgeRequests');
    const checks = await checksOf(test, conversed, judge, parts, signal);
    return outcome(checks.every(({ passed }) => passed) ? 'passed' : 'failed', null, checks);
  } catch (error) {
    signal.throwIfAborted();
    parts.log.warn({ err: error, run: test.runId }, 'a scenario could not be played');
    return outcome('error', messageOf(error), []);
  }
}
