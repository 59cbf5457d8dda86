/**
 * `npm run chaos -- [minutes] [option …]`: set-up, then nodes under fire (test/chaos/main.ts). A first word chooses another
 * program: `attack` (test/chaos/attack/main.ts).
 */
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { command } from './command.mjs';
import { inRoot } from './paths.mjs';
import { COMPILED, prepare } from './prepare.mjs';

const PROGRAMS = { attack: ['attack', 'main.js'] };

const [word = '', ...others] = process.argv.slice(2);
const program = Object.hasOwn(PROGRAMS, word) ? PROGRAMS[word] : undefined;
const main = inRoot('dist', 'test', 'chaos', ...(program ?? ['main.js']));

await command(async () => {
  await prepare(COMPILED);
  const args = ['--enable-source-maps', main, ...(program ? others : process.argv.slice(2))];
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
  process.exitCode = code ?? 1;
});
