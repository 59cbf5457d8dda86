/** The name of a declared route in the tables of inputs: dialect, method and whole path, but for the base of protocol A. */
import { defaultVocabulary } from '../../../contracts/vocabulary.js';
import { basesOf } from '../../../gateway/dialects/protocol-a/bases.js';
import type { DeclaredRoute } from '../../../gateway/declared-routes.js';

const BASES = basesOf(defaultVocabulary)
  .map(({ path }) => path)
  .sort((one, other) => other.length - one.length);

function withoutBase(path: string): string {
  const base = BASES.find((each) => path.startsWith(`${each}/`));
  return base === undefined ? path : path.slice(base.length);
}

export const routeOf = ({ dialect, method, path }: DeclaredRoute): string =>
  `${dialect} ${method} ${dialect === 'protocol-a' ? withoutBase(path) : path}`;
