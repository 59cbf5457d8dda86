/** `npm run chaos -- [minutes] [option …]`: set-up, then nodes under fire (test/chaos/main.ts). */
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { command } from './command.mjs';
import { inRoot } from './paths.mjs';
import { COMPILED, prepare } from './prepare.mjs';

const MAIN = inRoot('dist', 'test', 'chaos', 'main.js');

await command(async () => {
  await prepare(COMPILED);
  const args = ['--enable-source-maps', MAIN, ...process.argv.slice(2)];
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
  process.exitCode = code ?? 1;
});
