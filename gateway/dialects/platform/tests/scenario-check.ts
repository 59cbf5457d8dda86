/** What no schema knows of a scenario: which fields a check has, patterns, and what sessions say of the same fields. */
import { RawJson } from '../../../../contracts/raw-json.js';
import { PatternError, safePattern } from '../../../../contracts/safe-pattern.js';
import {
  type Check,
  CHECK_FIELDS,
  type ScenarioDefinition,
} from '../../../../contracts/schemas/agent-tests.js';
import type { Problem } from '../../../../contracts/schemas/check.js';
import type { TokenCounter } from '../../../../contracts/ports/tokens.js';
import { checked } from '../checked.js';
import { problem, refuse, rethrowUnder } from '../errors.js';
import type { Wanted } from '../sessions/request.js';
import { Overrides } from '../sessions/schema.js';
import { valueProblems } from '../sessions/values.js';

const checkOverrides = checked(Overrides);

/** The scenario's part of a session's request. */
export const wantedOf = ({ overrides, dynamic_variables }: ScenarioDefinition): Wanted => ({
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

/** Errors: `validation_failed` with everything that is wrong. */
export async function checkScenario(definition: ScenarioDefinition, tokens: TokenCounter): Promise<void> {
  try {
    checkOverrides(definition.overrides);
  } catch (error) {
    rethrowUnder('overrides', error);
  }
  refuse([
    ...userProblems(definition),
    ...definition.checks.flatMap(checkProblems),
    ...(await valueProblems(wantedOf(definition), tokens)),
  ]);
}

/** Why it cannot be played without a language model; undefined where it can. */
export function needsModel({ user, checks }: ScenarioDefinition): string | undefined {
  if (user.goal !== undefined) return 'its user has a goal';
  return checks.some(({ type }) => type === 'judged') ? 'it has a judged check' : undefined;
}
