/**
 * The filter `search` of lists: texts that hold the words as they stand, in any case. Letters are paired here, since what
 * `lower()` knows depends on the database's locale: in that of the embedded one (`C`) there is no `Ä` to an `ä`.
 */
import type { Fragment, Sql } from './sql.js';

const PUNCTUATION = /[!-/:-@[-`{-~]/;

/** One character of the search as a regular expression of Postgres'. */
function inAnyCase(character: string): string {
  if (PUNCTUATION.test(character)) return `\\${character}`;
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  // `ß` has no capital of one letter.
  const single = [...cases].filter((one) => [...one].length === 1);
  return single.length > 1 ? `[${single.join('')}]` : character;
}

export const patternOf = (search: string): string => [...search].map(inAnyCase).join('');

/** A condition that begins with `and`; none where nothing is searched for. */
export function isFound(sql: Sql, search: string, name: Fragment, description: Fragment) {
  const pattern = patternOf(search);
  return pattern === '' ? sql`` : sql`and (${name} ~ ${pattern} or ${description} ~ ${pattern})`;
}
