/**
 * Stands in for tcompare in the bundle of tap (transpile.mjs), where `match`, `throws` and `rejects` compare: a string within a
 * pattern is the whole string, an error's message the whole message, a list the whole list, and nothing is converted. The package
 * itself is content with parts: `{ param: 'tools' }` also matches `tools.0.name`, and `['a']` a list of many. A test that wants a
 * part of a string has a regular expression. Two strings that are in nothing are compared as the package does it: one holds the other.
 */
import { MatchStrict } from '../../node_modules/tcompare/dist/esm/index.js';

export * from '../../node_modules/tcompare/dist/esm/index.js';

const isString = (value) => typeof value === 'string';
const isError = (value) => value instanceof Error;

class ExactMatch extends MatchStrict {
  test() {
    const { object: found, expect: wanted } = this;
    const areBoth = (isOfKind) => isOfKind(found) && isOfKind(wanted);
    if (this.parent && areBoth(isString)) return found === wanted;
    if (areBoth(Array.isArray) && found.length !== wanted.length) return false;
    if (areBoth(isError) && wanted.message && found.message !== wanted.message) return false;
    return super.test();
  }
}

/** Whether `found` matches, and the difference as text. */
export function match(found, wanted, options = {}) {
  const compared = new ExactMatch(found, { ...options, expect: wanted, parent: undefined });
  return { diff: compared.print(), match: compared.match };
}
