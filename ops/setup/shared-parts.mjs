/**
 * Servers that the test files of a run share (test/fixtures/shared.ts): one Postgres, unless TEST_DATABASE_URL names
 * one, and gateways for those that only ask. It ends with the run, however that ends: its standard input does.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inRoot } from './paths.mjs';
import { filesOf } from './test-batches.mjs';

/** Unit tests ask no server. */
const wantsParts = ({ name }) => /^test\/(contract|acceptance)\//.test(name);

/** Under which its processor time is told. */
const NAME = 'what the files share';

const NONE = { env: {}, stop: async () => {} };

/** `env`: what tells the test files of it; `program`: the Node that runs it; `given`: variables that it has as they do. */
export async function startSharedParts(runs, program, usage, given) {
  if (!filesOf(runs).some(wantsParts)) return NONE;
  const script = inRoot('dist', 'test', 'fixtures', 'shared.js');
  const { args, env } = usage.of(NAME);
  const child = spawn(program, [...args, script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...given, ...env },
  });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
  if (typeof line !== 'string') throw new Error('what the tests share does not start');
  const stop = async () => {
    child.stdin.end();
    await ended;
    usage.ended(NAME);
  };
  return { env: JSON.parse(line), stop };
}
