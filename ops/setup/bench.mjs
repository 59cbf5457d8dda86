/** `npm run bench -- [name …]`: set-up, then the benchmarks whose name holds one of the arguments, one by one. */
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { sources } from './build.mjs';
import { command } from './command.mjs';
import { SetupError } from './failure.mjs';
import { inRoot } from './paths.mjs';
import { COMPILED, prepare } from './prepare.mjs';

const SUFFIX = '.bench.ts';

const names = () => sources('bench', /\.bench\.ts$/).map((file) => path.basename(file, SUFFIX));

async function run(name) {
  const file = inRoot('dist', 'bench', `${name}.bench.js`);
  const child = spawn(process.execPath, ['--enable-source-maps', file], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new SetupError(`the benchmark ${name} failed`);
}

await command(async () => {
  const wanted = process.argv.slice(2);
  const chosen = names().filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  if (chosen.length === 0)
    throw new SetupError(`no benchmark is called ${wanted.join(' or ') || 'anything'}`);
  await prepare(COMPILED);
  for (const name of chosen) await run(name);
});
