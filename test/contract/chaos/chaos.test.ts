/** Three nodes under load: upgraded one after the other, and with faults injected. Both take minutes, in the long form only. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { BUILT } from '../../../contracts/places.js';
import { shortOrLong } from '../../fixtures/long.js';

const skip = shortOrLong<string | false>(
  'takes minutes of two processors: npm run chaos, or npm run test:long',
  false,
);
t.setTimeout(1_500_000);

/** Runs the chaos program; resolves with its exit code, 0 if all was well. */
async function chaos(t: Pick<Test, 'comment'>, ...args: readonly string[]): Promise<unknown> {
  const main = fileURLToPath(new URL('test/chaos/main.js', BUILT));
  const child = spawn(process.execPath, ['--enable-source-maps', main, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = await once(child, 'close');
  t.comment(said);
  return code;
}

t.test(
  'a rolling upgrade under load breaks no call, and fails nothing that was accepted',
  { skip },
  async (t) => {
    t.equal(await chaos(t, '0', '--calls=10', '--sockets=100'), 0);
  },
);

t.test('one process or node after another is killed, stopped, cut off or drained', { skip }, async (t) => {
  t.equal(await chaos(t, '5'), 0);
});
