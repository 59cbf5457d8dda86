/** What `t.match`, `t.throws` and `t.rejects` take for a match (ops/setup/exact-match.mjs). */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

/** From here tests find tap. */
const cwd = path.dirname(fileURLToPath(import.meta.url));

type Row = readonly [found: unknown, wanted: unknown, name: string];

const { match } = (await import(new URL('../../../ops/setup/exact-match.mjs', import.meta.url).href)) as {
  match(found: unknown, wanted: unknown): { readonly match: boolean; readonly diff: string };
};

const MATCHES: readonly Row[] = [
  [{ param: 'tools', more: 1 }, { param: 'tools' }, 'the whole string'],
  [{ param: 'tools.0' }, { param: /^tools/ }, 'a regular expression'],
  [{ param: 'tools' }, { param: String }, 'any string'],
  [{ a: [{ b: '' }] }, { a: [{ b: '' }] }, 'nothing where nothing is wanted'],
  [{ a: [1, { b: 2, c: 3 }] }, { a: [1, { b: 2 }] }, 'the whole list, of which an entry has more'],
  ['some tools', 'tools', 'a part of a text that is in nothing'],
  [new Error('gone'), new Error('gone'), 'an error with the message'],
  [new RangeError('gone'), new Error(), 'an error with any message'],
];

const DIFFERS: readonly Row[] = [
  [{ param: 'tools.0.name' }, { param: 'tools' }, 'a part of a string'],
  [{ a: [{ b: 'tools.0' }] }, { a: [{ b: 'tools' }] }, 'a part of a string further down'],
  [new Map([['a', 'tools']]), new Map([['a', 'tool']]), 'a part of a string in a map'],
  [{ param: 'tools' }, { param: '' }, 'anything where nothing is wanted'],
  [Object.assign(new Error('gone'), { code: 'lost_again' }), { code: 'lost' }, 'a part of an error’s code'],
  [new Error('gone for good'), { message: 'gone' }, 'a part of a message'],
  [new Error('gone for good'), new Error('gone'), 'an error with a part of the message'],
  [['a', 'b'], ['a'], 'the beginning of a list'],
  [{ a: [1] }, { a: [] }, 'a list where none is wanted'],
  [{ param: undefined }, { param: null }, 'what is absent, for null'],
  [{ code: '1' }, { code: 1 }, 'a number as text'],
];

t.test('a string or a list in a pattern is the whole of what is found', async (t) => {
  for (const [found, wanted, name] of MATCHES) t.equal(match(found, wanted).match, true, name);
  for (const [found, wanted, name] of DIFFERS) {
    const { match: isMatch, diff } = match(found, wanted);
    t.strictSame([isMatch, diff === ''], [false, false], name);
  }
});

t.test('that is how all tests compare', async (t) => {
  const statusOf = (pattern: string): number | null => {
    const script = `import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap'; t.match({ param: 'tools.0.name' }, { param: ${pattern} });`;
    const args = ['--input-type=module', '--eval', script];
    return spawnSync(process.execPath, args, { cwd, stdio: 'ignore' }).status;
  };
  t.strictSame([statusOf('/tools/'), statusOf("'tools'")], [0, 1]);
});
