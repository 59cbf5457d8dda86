/** Judged criteria: the analysis of a conversation (gateway/agents/deliveries/analysis.ts), for these criteria only. */
import type { CheckResult } from '../../../contracts/ports/agents/agent-tests.js';
import type { ChatModel } from '../../../contracts/ports/chat.js';
import type { SessionItem, SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import type { Check } from '../../../contracts/schemas/agent-tests.js';
import { analyse } from '../deliveries/analysis.js';
import { titleOf } from './checks.js';

/** The judging failed; the message says why. */
export class JudgeError extends Error {
  override readonly name = 'JudgeError';
}

const nameOf = (index: number): string => `criterion_${index + 1}`;

/** The plan of a conversation, asking for these criteria. */
const asking = (plan: SessionPlan, checks: readonly Check[]): SessionPlan => ({
  ...plan,
  config: {
    ...plan.config,
    analysis: {
      summary: { enabled: false, prompt: null, language: 'en' },
      data_fields: [],
      criteria: checks.map(({ criterion = '' }, index) => ({ name: nameOf(index), description: criterion })),
    },
  },
});

/** One result per check, in their order. Errors: `JudgeError`. */
export async function judged(
  checks: readonly Check[],
  plan: SessionPlan,
  items: readonly SessionItem[],
  chat: ChatModel,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  if (checks.length === 0) return [];
  const analysis = await analyse({ plan: asking(plan, checks), items }, chat, signal);
  if (analysis.status !== 'completed')
    throw new JudgeError(analysis.error ?? analysis.reason ?? 'The conversation could not be judged');
  return checks.map((check, index) => {
    const verdict = analysis.criteriaResults[index];
    const evidence = verdict?.rationale || 'The language model gave no reason';
    return { name: titleOf(check), type: 'judged', passed: verdict?.result === 'success', evidence };
  });
}
