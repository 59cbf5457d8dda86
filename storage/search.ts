/**
 * The filter `search` of lists: texts that contain the search text literally, in any case. Cases are paired here, since
 * `lower()` depends on the database's locale: the embedded one's (`C`) does not pair `ä` with `Ä`.
 */
import type { Fragment, Sql } from './postgres/sql.js';

const PUNCTUATION = /[!-/:-@[-`{-~]/;

/** One character of the search as a Postgres regular expression. */
function inAnyCase(character: string): string {
  if (PUNCTUATION.test(character)) return `\\${character}`;
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  // `ß` has no capital of one letter.
  const single = [...cases].filter((one) => [...one].length === 1);
  return single.length > 1 ? `[${single.join('')}]` : character;
}

export const patternOf = (search: string): string => [...search].map(inAnyCase).join('');

/** A condition that begins with `and`; empty if there is no search text. */
export function isFound(sql: Sql, search: string, name: Fragment, description: Fragment) {
  const pattern = patternOf(search);
  return pattern === '' ? sql`` : sql`and (${name} ~ ${pattern} or ${description} ~ ${pattern})`;
}
