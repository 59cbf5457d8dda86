/** Checks of a scenario beyond its schema: fields of its checks, patterns, and the rules of sessions for the same fields. */
import { LIMITS } from '../../../../contracts/limits.js';
import { pausesIn } from '../../../../contracts/speech/pauses.js';
import { RawJson } from '../../../../contracts/text/raw-json.js';
import { PatternError, safePattern } from '../../../../contracts/text/safe-pattern.js';
import {
  type Check,
  CHECK_FIELDS,
  VOICE_CHECKS,
  type ScenarioDefinition,
} from '../../../../contracts/schemas/agent-tests.js';
import type { Problem } from '../../../../contracts/schemas/check.js';
import type { TokenAsker, TokenCounter } from '../../../../contracts/ports/tokens.js';
import { checked } from '../checked.js';
import { problem, refuse, rethrowUnder } from '../errors.js';
import type { SessionFields } from '../sessions/request.js';
import { Overrides } from '../sessions/schema.js';
import { valueProblems } from '../sessions/values.js';

const { voice: limits } = LIMITS.agentTest;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const checkOverrides = checked(Overrides);

/** The request for the session that plays the scenario. */
export const wantedOf = ({ overrides, dynamic_variables }: ScenarioDefinition): SessionFields => ({
  overrides,
  dynamic_variables,
  metadata: new RawJson('{}'),
});

function patternProblems({ pattern }: Check, loc: Problem['loc']): readonly Problem[] {
  if (pattern === undefined) return [];
  try {
    safePattern(pattern);
    return [];
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return [problem([...loc, 'pattern'], `${loc.join('.')}.pattern cannot be used: ${error.message}`)];
  }
}

function checkProblems(check: Check, index: number): readonly Problem[] {
  const loc = ['checks', index];
  const { needs, may } = CHECK_FIELDS[check.type];
  const given = Object.keys(check).filter((field) => field !== 'type' && field !== 'name');
  const known: readonly string[] = [...needs, ...may];
  return [
    ...needs
      .filter((field) => check[field] === undefined)
      .map((field) => problem([...loc, field], `missing field ${field}`, 'required')),
    ...given
      .filter((field) => !known.includes(field))
      .map((field) => problem([...loc, field], `${field} is no field of a check of type ${check.type}`)),
    ...patternProblems(check, loc),
  ];
}

function userProblems({ user: { lines, goal, persona } }: ScenarioDefinition): readonly Problem[] {
  if ((lines === undefined) === (goal === undefined))
    return [problem(['user'], 'user must have either lines or a goal')];
  return lines !== undefined && persona !== undefined
    ? [problem(['user', 'persona'], 'persona stands beside a goal only')]
    : [];
}

/** Problems of voice scenarios, and of text scenarios that use features of calls. */
function voiceProblems({ mode, caller, checks, user }: ScenarioDefinition): readonly Problem[] {
  const isVoice = mode === 'voice';
  const long = (user.lines ?? []).flatMap((line, index) =>
    pausesIn(line).some((pause) => pause > limits.pause.max) || sum(pausesIn(line)) > limits.pauses
      ? [problem(['user', 'lines', index], `user.lines.${index} pauses for too long`)]
      : [],
  );
  if (isVoice) return long;
  return [
    ...(caller ? [problem(['caller'], 'caller stands in scenarios by voice only')] : []),
    ...checks.flatMap(({ type }, index) =>
      VOICE_CHECKS.has(type)
        ? [problem(['checks', index, 'type'], `checks.${index}: ${type} holds of scenarios by voice only`)]
        : [],
    ),
  ];
}

/** Errors: `validation_failed` with all problems. */
export async function checkScenario(
  definition: ScenarioDefinition,
  asker: TokenAsker,
  tokens: TokenCounter,
): Promise<void> {
  try {
    checkOverrides(definition.overrides);
  } catch (error) {
    rethrowUnder('overrides', error);
  }
  refuse([
    ...userProblems(definition),
    ...voiceProblems(definition),
    ...definition.checks.flatMap(checkProblems),
    ...(await valueProblems(wantedOf(definition), asker, tokens)),
  ]);
}

/** Why the scenario needs a language model; undefined if it needs none. */
export function needsModel({ user, checks }: ScenarioDefinition): string | undefined {
  if (user.goal !== undefined) return 'its user has a goal';
  return checks.some(({ type }) => type === 'judged') ? 'it has a judged check' : undefined;
}
