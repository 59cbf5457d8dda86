/** The README tells of every variable and every command that there is, and of none besides. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { CONFIG_VARIABLES } from '../../gateway/config.js';

const read = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const README = read('README.md');

/** Words in capitals within backquotes of the table rows. */
const told = [...README.matchAll(/^\| (`[A-Z].*?) \|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name),
);

t.strictSame([...told].sort(), [...CONFIG_VARIABLES].sort(), 'the table of variables');

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
for (const [, name = ''] of README.matchAll(/npm (?:run )?(start|test|check|bench|keys)\b/g)) {
  t.ok(Object.hasOwn(scripts, name), `npm run ${name}`);
}
