/** Checks of a scenario, applied to its conversation: each passes or not, with evidence. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIMITS } from '../../../contracts/limits.js';
import type { VoiceTestReport, CheckResult } from '../../../contracts/ports/agents/agent-tests.js';
import type { SessionItem } from '../../../contracts/ports/sessions/sessions.js';
import { safePattern } from '../../../contracts/text/safe-pattern.js';
import type { Check, CheckType, EndedBy } from '../../../contracts/schemas/agent-tests.js';
import { argumentsIn, fits, isTool } from './arguments.js';
import { VOICE_RULES } from './voice/checks.js';

export interface CheckedConversation {
  readonly items: readonly SessionItem[];
  readonly endedBy: EndedBy;
  /** Present for conversations by voice. */
  readonly call?: Pick<VoiceTestReport, 'measured'>;
}

/** The languages that a text may be in, the likeliest first; `sure`: it can hardly be another than the first. */
export type LanguagesOf = (text: string) => { readonly languages: readonly string[]; readonly sure: boolean };

type Verdict = Pick<CheckResult, 'passed' | 'evidence'>;
type Rule = (
  check: Check,
  happened: CheckedConversation,
  languagesOf: LanguagesOf,
) => Verdict | Promise<Verdict>;
type Spoken = Extract<SessionItem, { type: 'message' }>;

const EVIDENCE = 300;

/** The agent's answers, without fillers. */
export const answersOf = (items: readonly SessionItem[]): readonly string[] =>
  items
    .filter((item): item is Spoken => item.type === 'message' && item.role === 'assistant' && !item.filler)
    .map(({ content }) => content);

export const turnsOf = (items: readonly SessionItem[]): number =>
  items.filter((item) => item.type === 'message' && item.role === 'user').length;

const quoted = (text: string): string => `“${text.slice(0, EVIDENCE)}”`;

/** Passes if an answer was found and `wanted`, or neither. */
const found = (answer: string | undefined, wanted: boolean): Verdict => ({
  passed: (answer !== undefined) === wanted,
  evidence: answer === undefined ? 'No answer has it' : quoted(answer),
});

const contains =
  (wanted: boolean): Rule =>
  ({ text = '' }, { items }) => {
    const part = text.toLowerCase();
    return found(
      answersOf(items).find((answer) => answer.toLowerCase().includes(part)),
      wanted,
    );
  };

/** Runs a search over several turns of the event loop. */
async function searched(search: Generator<undefined, boolean>): Promise<boolean> {
  for (;;) {
    const { done, value } = search.next();
    if (done) return value;
    await nextTurn();
  }
}

const matches =
  (wanted: boolean): Rule =>
  async ({ pattern = '' }, { items }) => {
    const isIn = safePattern(pattern);
    for (const answer of answersOf(items)) {
      if (await searched(isIn(answer.slice(0, LIMITS.agentTest.patternText)))) return found(answer, wanted);
    }
    return found(undefined, wanted);
  };

/** The calls of a tool, as the model wrote their arguments. */
const callsOf = (items: readonly SessionItem[], tool: string): readonly string[] =>
  items.flatMap((item) =>
    item.type === 'tool_call' && isTool(tool, item.toolName) ? [item.input || '{}'] : [],
  );

const called =
  (judge: (count: number, check: Check) => boolean): Rule =>
  (check, { items }) => {
    const calls = callsOf(items, check.tool ?? '');
    const fitting = calls.filter((input) => fits(argumentsIn(input), check.arguments));
    const shown = calls.length === 0 ? 'It was not called' : `Called with ${calls.join(', ')}`;
    return { passed: judge(fitting.length, check), evidence: shown.slice(0, EVIDENCE) };
  };

const language: Rule = ({ language: wanted = '' }, { items }, languagesOf) => {
  const { languages, sure } = languagesOf(answersOf(items).join(' '));
  const passed = sure ? languages[0] === wanted : languages.includes(wanted);
  const likely = languages.slice(0, sure ? 1 : 5).join(', ');
  return {
    passed,
    evidence: `${sure ? 'It is' : 'It may be'} ${likely === '' ? 'no known language' : likely}`,
  };
};

const byVoice =
  (rule: (check: Check, measured: VoiceTestReport['measured']) => Verdict): Rule =>
  (check, { call }) =>
    call ? rule(check, call.measured) : { passed: false, evidence: 'Nobody has spoken' };

/** Rules that need no model. */
const RULES: Readonly<Record<Exclude<CheckType, 'judged'>, Rule>> = {
  contains: contains(true),
  not_contains: contains(false),
  matches: matches(true),
  not_matches: matches(false),
  tool_called: called((count, { times }) => (times === undefined ? count > 0 : count === times)),
  tool_not_called: called((count) => count === 0),
  ended_by: ({ by }, { endedBy }) => ({ passed: by === endedBy, evidence: `Ended by ${endedBy}` }),
  language,
  turns({ at_least: least = 0, at_most: most = Infinity }, { items }) {
    const turns = turnsOf(items);
    return { passed: turns >= least && turns <= most, evidence: `${turns} turns of the user` };
  },
  answers_within: byVoice(VOICE_RULES.answers_within),
  silent_within: byVoice(VOICE_RULES.silent_within),
  talk_over: byVoice(VOICE_RULES.talk_over),
  never_interrupts: byVoice(VOICE_RULES.never_interrupts),
  answers_all: byVoice(VOICE_RULES.answers_all),
};

const argumentsShown = ({ arguments: wanted }: Check): string =>
  wanted && Object.keys(wanted).length > 0 ? ` with ${JSON.stringify(wanted)}` : '';

const TITLES: Readonly<Record<CheckType, (check: Check) => string>> = {
  contains: ({ text = '' }) => `says ${quoted(text)}`,
  not_contains: ({ text = '' }) => `does not say ${quoted(text)}`,
  matches: ({ pattern = '' }) => `matches ${pattern}`,
  not_matches: ({ pattern = '' }) => `does not match ${pattern}`,
  tool_called: (check) => `calls ${check.tool ?? ''}${argumentsShown(check)}`,
  tool_not_called: (check) => `does not call ${check.tool ?? ''}${argumentsShown(check)}`,
  ended_by: ({ by = '' }) => `ended by ${by}`,
  language: ({ language: wanted = '' }) => `speaks ${wanted}`,
  turns: ({ at_least: least = 0, at_most: most }) =>
    most === undefined ? `at least ${least} turns` : `${least} to ${most} turns`,
  judged: ({ criterion = '' }) => criterion,
  answers_within: ({ ms = 0 }) => `answers within ${ms} ms`,
  silent_within: ({ ms = 0 }) => `falls silent within ${ms} ms`,
  talk_over: ({ ms = 0 }) => `talks over the caller for ${ms} ms at most`,
  never_interrupts: () => 'never interrupts the caller',
  answers_all: () => 'answers every turn',
};

export const titleOf = (check: Check): string => check.name ?? TITLES[check.type](check);

/** The result of a check that needs no model. */
export async function ruled(
  check: Check & { readonly type: Exclude<CheckType, 'judged'> },
  happened: CheckedConversation,
  languagesOf: LanguagesOf,
): Promise<CheckResult> {
  const verdict = await RULES[check.type](check, happened, languagesOf);
  return { name: titleOf(check), type: check.type, ...verdict };
}
