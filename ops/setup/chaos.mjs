/**
 * `npm run chaos -- [minutes] [option …]`: set-up, then nodes under fire (test/chaos/main.ts); `npm run chaos -- NAME …`: one of the
 * other runs.
 */
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { command } from './command.mjs';
import { inRoot } from './paths.mjs';
import { COMPILED, prepare } from './prepare.mjs';

/** Runs by name: their compiled entries below test/chaos. */
const RUNS = {
  attack: ['attack', 'main.js'],
  loop: ['loop', 'main.js'],
  conversation: ['conversation', 'main.js'],
  night: ['night', 'main.js'],
  placement: ['placement', 'main.js'],
  cluster: ['cluster', 'main.js'],
};

const [first = '', ...rest] = process.argv.slice(2);
const named = Object.hasOwn(RUNS, first) ? RUNS[first] : undefined;
const MAIN = inRoot('dist', 'test', 'chaos', ...(named ?? ['main.js']));

await command(async () => {
  await prepare(COMPILED);
  const args = ['--enable-source-maps', MAIN, ...(named ? rest : process.argv.slice(2))];
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
  process.exitCode = code ?? 1;
});
