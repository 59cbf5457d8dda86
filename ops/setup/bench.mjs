/**
 * `npm run bench -- [name …] [option …]`: set-up, then the load tests of bench/, which start this checkout's gateway
 * unless told of another. Names of `bench/*.bench.ts` run those, which the load tests do not hold yet.
 */
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { sources } from './build.mjs';
import { command } from './command.mjs';
import { inRoot, ROOT } from './paths.mjs';
import { COMPILED, prepare } from './prepare.mjs';

const SUFFIX = '.bench.ts';
const SUITE = inRoot('bench', 'dist', 'src', 'main.js');

const single = () => sources('bench', /\.bench\.ts$/).map((file) => path.basename(file, SUFFIX));

/** Runs a script with the terminal as its own; its exit code. */
async function run(file, ...args) {
  const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

await command(async () => {
  const args = process.argv.slice(2);
  const chosen = single().filter((name) => args.includes(name));
  await prepare(COMPILED);
  const codes = [];
  for (const name of chosen)
    codes.push(await run(inRoot('dist', 'bench', `${name}${SUFFIX.replace('.ts', '.js')}`)));
  const rest = args.filter((word) => !chosen.includes(word));
  if (rest.length > 0 || chosen.length === 0) codes.push(await run(SUITE, '--checkout', ROOT, ...rest));
  process.exitCode = Math.max(...codes);
});
