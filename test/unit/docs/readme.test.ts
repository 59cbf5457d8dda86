/** All variables and commands in the README and on the page about troubleshooting exist; the README links all settings. */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { SECTIONS } from '../../../gateway/config/settings.js';

const read = (name: string): string => readFileSync(new URL(name, CHECKOUT), 'utf8');
const README = read('README.md');
const PAGES = README + read('docs/troubleshooting.md');

const variables = new Set(SECTIONS.flatMap(({ settings }) => settings.map(({ env }) => env)));

/** Names with an underscore in backquotes, with what is set (`PORT=9000`) or without. */
const told = [...PAGES.matchAll(/`([A-Z]+(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);

t.ok(told.length > 5);
for (const name of new Set(told)) t.ok(variables.has(name) || /^(OTEL|NODE)_/.test(name), name);
t.match(README, '](docs/configuration.md)');

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
for (const [, name = ''] of PAGES.matchAll(/npm\s(?:run\s)?([a-z][a-z:-]*)/g)) {
  t.ok(Object.hasOwn(scripts, name), `npm run ${name}`);
}
