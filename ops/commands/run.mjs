/** `node run.mjs [command] [word …]`: runs a command of table.mjs. `--version` and `--help` need neither packages nor set-up. */
import '../setup/node-version.mjs';
import fs from 'node:fs';
import { closest } from '../models/closest.mjs';
import { inRoot } from '../setup/paths.mjs';
import { COMMANDS, DEFAULT } from './table.mjs';
import { commandLine, PROGRAM } from './words.mjs';

const WRONG_USAGE = 2;

const versionText = () => JSON.parse(fs.readFileSync(inRoot('package.json'), 'utf8')).version;

function helpText() {
  const names = Object.keys(COMMANDS);
  const width = Math.max(...names.map((name) => name.length));
  return [
    `Usage: ${PROGRAM} [command] [word …]`,
    '',
    ...names.map((name) => `  ${name.padEnd(width)}  ${COMMANDS[name].says}`),
    '',
    '  --version, -v  prints the version',
    '  --help, -h     shows this text; behind a command, what that command takes',
    '',
    `Settings are environment variables, or lines of a file .env in the working folder: ${commandLine('start', '--help')}`,
  ].join('\n');
}

const FLAGS = { '--version': versionText, '-v': versionText, '--help': helpText, '-h': helpText };

function unknown(name) {
  const [meant] = closest(name, Object.keys(COMMANDS));
  const hint = meant ? `; did you mean ${meant}?` : '';
  console.error(`There is no command ${name}${hint}\n\n${helpText()}`);
  process.exitCode = WRONG_USAGE;
}

async function run(name) {
  if (!Object.hasOwn(COMMANDS, name)) return unknown(name);
  const { load, isNamed } = COMMANDS[name];
  if (!isNamed) process.argv.splice(2, 1);
  await load();
}

const [word = DEFAULT] = process.argv.slice(2);
if (Object.hasOwn(FLAGS, word)) console.log(FLAGS[word]());
else await run(word);
