/** Whatever fails around a conversation: a few rows in the short form, which judges no seconds; all in the long one. */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from '../../fixtures/tap.js';
import { BUILT } from '../../../contracts/places.js';
import { endWithTests } from '../../fixtures/processes/child-processes.js';
import { shortOrLong } from '../../fixtures/long.js';

t.setTimeout(shortOrLong(300_000, 1_800_000));

t.test('nobody is left in silence, and nothing is ordered twice', async (t) => {
  const main = fileURLToPath(new URL('test/chaos/conversation/main.js', BUILT));
  const args = ['--enable-source-maps', main, ...shortOrLong(['--short'], [])];
  const child = endWithTests(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  t.same(said.match(/^FAIL[^]*?(?=^(?:PASS|FAIL|conversation))/gm) ?? [], [], 'no row fails');
  t.match(said, /^PASS/m);
  t.equal(code, 0);
});
