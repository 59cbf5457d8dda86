/** All variables and commands in the README exist; all variables are on the page that it links. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { SECTIONS } from '../../gateway/config/settings.js';

const read = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const README = read('README.md');

const variables = new Set(SECTIONS.flatMap(({ settings }) => settings.map(({ env }) => env)));

/** Names with an underscore in backquotes, with what is set (`PORT=9000`) or without. */
const told = [...README.matchAll(/`([A-Z]+(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);

t.ok(told.length > 5);
for (const name of new Set(told)) t.ok(variables.has(name) || name.startsWith('OTEL_'), name);
t.match(README, '](docs/configuration.md)');

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
for (const [, name = ''] of README.matchAll(/npm (?:run )?(start|test|check|bench|keys)\b/g)) {
  t.ok(Object.hasOwn(scripts, name), `npm run ${name}`);
}
