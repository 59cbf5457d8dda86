/**
 * Rules of test files. Each compares exactly: a pattern of `t.match`, `t.throws` or `t.rejects` is a regular expression, a text or a
 * class, as tap is content with parts of texts and lists in anything else (test/fixtures/exactly.ts). And each takes `t` from
 * test/fixtures/tap.ts, so that files can share a process. Their folders are those of what they test.
 */
import fs from 'node:fs';
import path from 'node:path';
import { sources } from './build.mjs';
import { ROOT } from './paths.mjs';
import { lineAt, nodesOf } from './syntax.mjs';

/** The function for exact patterns, by the method of tap. */
const EXACT = new Map([
  ['match', 'exactly'],
  ['throws', 'throwsExactly'],
  ['rejects', 'rejectsExactly'],
]);
const WRAPPED = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);
const INEXACT = new Set(['ObjectExpression', 'ArrayExpression']);

const bare = (node) => (WRAPPED.has(node.type) ? bare(node.expression) : node);
const isInexact = (pattern) =>
  INEXACT.has(pattern.type) || (pattern.type === 'NewExpression' && /Error$/.test(pattern.callee.name));

const inexactPattern = ({ type, callee, arguments: [, pattern] = [] }) => {
  const exact = type === 'CallExpression' && pattern && EXACT.get(callee.property?.name);
  if (exact && isInexact(bare(pattern)))
    return `a pattern of t.${callee.property.name} that holds more than a text: ${exact}()`;
};

const ownTap = ({ type, source, specifiers }) => {
  if (
    type === 'ImportDeclaration' &&
    source.value === 'tap' &&
    specifiers.some((each) => each.type === 'ImportDefaultSpecifier')
  )
    return 't comes from test/fixtures/tap';
};

/** What is wrong with one file, `name` being its path from the root: a line of text each. */
export const testFaults = (name, text, rules = [inexactPattern, ownTap]) =>
  nodesOf(name, text).flatMap((node) =>
    rules.flatMap((rule) => {
      const fault = rule(node);
      return fault ? [`${name}:${lineAt(text, node.start)}: ${fault}`] : [];
    }),
  );

const PLACE = /^test\/(unit|contract)\/(?:(.+)\/)?[^/]+\.test\.ts$/;

/** What is wrong with the place of a test: unit tests mirror the folders of the sources, contract tests lie in that of a surface. */
export function misplaced(name, exists = (folder) => fs.existsSync(path.join(ROOT, folder))) {
  const [, kind, folder] = PLACE.exec(name) ?? [];
  if (kind === undefined) return [];
  if (folder === undefined) return [`${name}: lies in no folder`];
  return kind === 'unit' && !exists(folder) ? [`${name}: there is no folder ${folder}`] : [];
}

/** The test files of the gateway, and what they share. */
export const checkTests = () =>
  sources('test', /(?<!\.d)\.(ts|mjs)$/)
    .map((file) => path.relative(ROOT, file).split(path.sep).join('/'))
    .filter((name) => name !== 'test/fixtures/tap.ts')
    .flatMap((name) => [
      ...misplaced(name),
      ...testFaults(name, fs.readFileSync(path.join(ROOT, name), 'utf8')),
    ]);
