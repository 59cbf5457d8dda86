/** Renders the settings for people: text for a terminal, and a page of documentation. */
import type { Described } from './setting.js';
import { SECTIONS, type Section } from './settings.js';

const COLUMNS = 100;
const INDENT = 2;
/** Column at which the description of a variable begins. */
const COLUMN = 32;

/** Wraps text to lines of at most `width` characters; a longer word gets a line of its own. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

const secrecy = ({ secret }: Described): string => (secret ? ' (secret)' : '');

function entry(setting: Described): readonly string[] {
  const { env, meaning, kind, shown } = setting;
  const said = [meaning, `${kind}${secrecy(setting)}; default: ${shown}`];
  const [first = '', ...rest] = said.flatMap((line) => wrap(line, COLUMNS - COLUMN));
  const name = `${' '.repeat(INDENT)}${env}`;
  const head = name.length < COLUMN ? [name.padEnd(COLUMN) + first] : [name, ' '.repeat(COLUMN) + first];
  return [...head, ...rest.map((line) => ' '.repeat(COLUMN) + line)];
}

const block = ({ title, settings }: Section): readonly string[] => ['', title, ...settings.flatMap(entry)];

/** The text of `npm start -- --help`. */
export const helpText = (sections: readonly Section[] = SECTIONS): string =>
  [
    'Speech gateway',
    '',
    'npm start              Installs and builds what is missing, then serves until SIGTERM or SIGINT.',
    'npm start -- --help    Shows this text.',
    'speech-gateway         The same where the npm package is installed; --help lists its commands.',
    '',
    'Settings are environment variables, or lines NAME=value in a file .env in the working directory.',
    'If both set a variable, the environment wins.',
    ...sections.flatMap(block),
    '',
  ].join('\n');

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('*', '\\*');

const row = (setting: Described): string =>
  `| \`${setting.env}\` | ${cell(setting.meaning)} | ${cell(setting.kind)}${secrecy(setting)} | ${cell(setting.shown)} |`;

const chapter = ({ title, settings }: Section): readonly string[] => [
  '',
  `## ${title}`,
  '',
  '| variable | meaning | value | default |',
  '| --- | --- | --- | --- |',
  ...settings.map(row),
];

/** The text of docs/configuration.md. */
export const helpPage = (sections: readonly Section[] = SECTIONS): string =>
  [
    '<!-- Made by npm run generate from gateway/config/settings.ts. -->',
    '',
    '# Configuration',
    '',
    'Settings are environment variables. They may also be lines of a file `.env` in the working',
    'directory (`PORT=9000`); if both set a variable, the environment wins. `npm start -- --help` shows',
    'this list, too.',
    '',
    'A variable whose name looks misspelt is reported at start. A setting that has no effect without',
    'another, such as `LLM_API_KEY` without `LLM_BASE_URL`, stops the start.',
    ...sections.flatMap(chapter),
    '',
  ].join('\n');
