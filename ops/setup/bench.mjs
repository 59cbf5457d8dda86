/**
 * `npm run bench -- [name …] [option …]`: set-up, then the load tests of bench/, which start this checkout's gateway
 * unless told of another.
 */
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { command } from './command.mjs';
import { inRoot, ROOT } from './paths.mjs';
import { COMPILED, prepare } from './prepare.mjs';

const SUITE = inRoot('bench', 'dist', 'src', 'main.js');

await command(async () => {
  await prepare(COMPILED);
  const args = ['--enable-source-maps', SUITE, '--checkout', ROOT, ...process.argv.slice(2)];
  const suite = spawn(process.execPath, args, { stdio: 'inherit' });
  // The suite stops the gateways that it started, and still reports what it has measured.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => suite.kill(signal));
  const [code] = await once(suite, 'exit');
  process.exitCode = code ?? 1;
});
