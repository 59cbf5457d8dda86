/** What an operator can read of each fault, and when: log, metrics, alerts, /health. Takes up to an hour of a busy machine, in the long form only. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from '../../fixtures/tap.js';
import { BUILT } from '../../../contracts/places.js';
import { PROMTOOL } from '../../chaos/night/promtool.js';
import { endWithTests } from '../../fixtures/processes/child-processes.js';
import { skipReason } from '../../fixtures/external.js';
import { shortOrLong } from '../../fixtures/long.js';

const skip =
  shortOrLong<string | false>('takes half an hour: npm run chaos -- night, or npm run test:long', false) ||
  skipReason(PROMTOOL);
t.setTimeout(5_400_000);

t.test('each fault is named in log, metrics, alerts and /health, and so is its end', { skip }, async (t) => {
  const main = fileURLToPath(new URL('test/chaos/night/main.js', BUILT));
  const child = endWithTests(
    spawn(process.execPath, ['--enable-source-maps', main], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  t.same(said.match(/^FAIL[^]*?(?=^(?:PASS|FAIL|SKIP|night))/gm) ?? [], [], 'no row fails');
  t.match(said, /^PASS/m);
  t.equal(code, 0);
});
