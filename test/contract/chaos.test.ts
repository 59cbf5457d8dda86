/** Three nodes under fire, in the long form: no acknowledged write lost, no call left alone, nothing left behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { BUILT } from '../../contracts/places.js';
import { shortOrLong } from '../fixtures/long.js';

const skip = shortOrLong<string | false>(
  'takes minutes of two processors: npm run chaos, or npm run test:long',
  false,
);
t.setTimeout(1_500_000);

t.test('one process or node after another is killed, stopped, cut off or drained', { skip }, async (t) => {
  const main = fileURLToPath(new URL('test/chaos/main.js', BUILT));
  const child = spawn(process.execPath, ['--enable-source-maps', main, '5'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = await once(child, 'close');
  t.comment(said);
  t.equal(code, 0);
});
