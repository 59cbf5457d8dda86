/** `npm run agents -- pull|push|diff DIR`: agents as files. It works by the API alone, of any gateway. */
import '../setup/node-version.mjs';
import { createInterface } from 'node:readline/promises';
import { run } from './run.mjs';

async function ask() {
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await asking.question('Do it? [y/N] ');
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

process.exitCode = await run(process.argv.slice(2), process.env, {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  ...(process.stdin.isTTY && { ask }),
});
