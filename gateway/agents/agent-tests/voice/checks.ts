/** The rules of scenarios by voice, on the measurements of the call; each verdict has its evidence. */
import type { CheckResult, TurnMeasurements } from '../../../../contracts/ports/agents/agent-tests.js';
import type { Check } from '../../../../contracts/schemas/agent-tests.js';
import { median } from './timeline.js';

type Verdict = Pick<CheckResult, 'passed' | 'evidence'>;

const ms = (value: number | undefined): string => `${Math.round(value ?? 0)} ms`;

const slowest = (values: readonly number[], most: number, none: string): Verdict => {
  if (values.length === 0) return { passed: false, evidence: none };
  const longest = Math.max(...values);
  const evidence = `The longest of ${values.length} was ${ms(longest)}, the median ${ms(median(values))}`;
  return { passed: longest <= most, evidence };
};

/** A rule without anything to measure fails: without an interruption, for example, the agent cannot have fallen silent. */
export const VOICE_RULES = {
  answers_within: ({ ms: most = 0 }: Check, { answers }: TurnMeasurements) =>
    slowest(answers, most, 'No turn was answered'),
  silent_within({ ms: most = 0 }: Check, { silences, unheeded }: TurnMeasurements) {
    if (unheeded > 0) return { passed: false, evidence: `${unheeded} interruptions were not heeded` };
    return slowest(silences, most, 'The agent was not interrupted');
  },
  talk_over: ({ ms: most = 0 }: Check, { talkOver }: TurnMeasurements) => ({
    passed: talkOver <= most,
    evidence: `Both spoke for ${ms(talkOver)} at most`,
  }),
  never_interrupts: (_: Check, { interrupted }: TurnMeasurements) => ({
    passed: interrupted === 0,
    evidence: `It began ${interrupted} times while the caller spoke`,
  }),
  answers_all: (_: Check, { unanswered, answers }: TurnMeasurements) => ({
    passed: unanswered === 0,
    evidence: `${answers.length} turns were answered, ${unanswered} were not`,
  }),
} as const satisfies Readonly<Record<string, (check: Check, measured: TurnMeasurements) => Verdict>>;
