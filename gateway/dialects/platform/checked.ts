/**
 * Checks bodies of the platform against their schemas: 422 with all problems. Characters that no database stores in text
 * (NUL, halves of surrogate pairs) are refused first, anywhere in the body.
 */
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import { checker, type Problem } from '../../../contracts/schemas/check.js';
import type { Static, TSchema } from '../../../contracts/schemas/type.js';
import { problem, refuse } from './errors.js';

const UNSTORABLE = /[\0\ud800-\udfff]/u;
const MOST_TOLD = 20;

type Loc = Problem['loc'];

function textProblems(text: string, loc: Loc): Problem[] {
  if (!UNSTORABLE.test(text)) return [];
  const what = loc.length === 0 ? 'the body' : loc.join('.');
  return [problem(loc, `${what} holds NUL or half a surrogate pair, which are no text`, 'text')];
}

/** Problems with text that cannot be stored, in a JSON value and its member names. */
function* unstorable(value: unknown, loc: Loc): Generator<Problem> {
  if (typeof value === 'string') yield* textProblems(value, loc);
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* unstorable(item, [...loc, index]);
  else if (isPlainObject(value))
    for (const [name, member] of Object.entries(value)) {
      yield* textProblems(name, loc);
      yield* unstorable(member, [...loc, name]);
    }
}

/** Problems of a value with text that cannot be stored, of which nothing else is known. */
export function firstUnstorable(body: unknown): readonly Problem[] {
  const found: Problem[] = [];
  for (const one of unstorable(body, [])) if (found.push(one) === MOST_TOLD) break;
  return found;
}

/** Errors of the result: `validation_failed`. */
export function checked<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const check = checker(schema);
  return (value) => {
    refuse(firstUnstorable(value));
    const outcome = check(value);
    if (!outcome.ok) refuse(outcome.problems);
    return value as Static<S>;
  };
}
