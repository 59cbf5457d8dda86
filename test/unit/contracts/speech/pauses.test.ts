/** Pauses in spoken lines. */
import t from '../../../fixtures/tap.js';
import { pausesIn, textsIn } from '../../../../contracts/speech/pauses.js';

t.test('a spoken line has a text before, between and after its pauses', async (t) => {
  const line = ' One <break time="1.5s"/>two<break  time="800ms" /> ';
  t.strictSame(textsIn(line), ['One', 'two', '']);
  t.strictSame(pausesIn(line), [1500, 800]);
  for (const none of ['<break time="1"/>', '<break time="100000ms"/>', '<break time="-1s"/>', '<break time="1.2345s"/>'])
    t.strictSame([textsIn(none), pausesIn(none)], [[none], []]);
  t.strictSame(pausesIn('<break time="99999ms"/><break\ttime="0.125s" /><break time="10.25ms"/>'), [99_999, 125, 10.25]);
}); // oxfmt-ignore

t.test('a line break in a spoken line is no pause', async (t) => {
  const line = 'One\ntwo\n<break time="1s"/>\nthree';
  t.strictSame(textsIn(line), ['One\ntwo', 'three']);
  t.strictSame(pausesIn(line), [1000]);
});
