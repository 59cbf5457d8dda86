/** What strangers and tenants may try, beside a victim of another workspace: a few rows in the short form, all in the long one. */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from '../../fixtures/tap.js';
import { BUILT } from '../../../contracts/places.js';
import { endWithTests } from '../../fixtures/processes/child-processes.js';
import { shortOrLong } from '../../fixtures/long.js';

t.setTimeout(shortOrLong(300_000, 2_400_000));

t.test('nobody takes the gateway from the others', async (t) => {
  const main = fileURLToPath(new URL('test/chaos/attack/main.js', BUILT));
  const args = ['--enable-source-maps', main, ...shortOrLong(['--short'], [])];
  const child = endWithTests(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  t.same(said.match(/^FAIL[^]*?(?=^(?:PASS|FAIL|attack))/gm) ?? [], [], 'no row fails');
  t.match(said, /^PASS/m);
  t.equal(code, 0);
});
