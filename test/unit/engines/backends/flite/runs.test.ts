/** The bounds of a run of Flite. */
import t from '../../../../fixtures/tap.js';
import { runsOf } from '../../../../../engines/backends/flite/runs.js';

t.test('a run of Flite is bounded by what it has to say', async (t) => {
  const runs = (text: string, speed = 1) => [...runsOf(text, speed)];
  const plain = 'the package was delivered to the front door this morning '.repeat(5).trim();
  t.same(runs(plain), [plain], 'a full piece of words is one run');
  t.same(runs('Yes. It is. Your parcel has left our house.').length, 3, 'others wait for a sentence at most');
  t.equal(runs('A1B2C3D4E5F6G7H8 '.repeat(10)).length, 3, 'a short one that is spelt out is cut as well');
  for (const unit of ['9', 'W', '$', '=+', 'w ', '1/2 ']) {
    const text = unit.repeat(300 / unit.length);
    t.ok(
      runs(text).every(({ length }) => length <= 200),
      unit,
    );
    t.equal(runs(text, 0.25).join('').replace(/ /gu, ''), text.replace(/ /gu, ''), 'nothing is lost');
  }
  t.same(
    runs(`It ${plain.slice(3)}, No. 12`.slice(0, 300)).length,
    1,
    'capitals and figures of a sentence do not cut it',
  );
  t.ok(
    runs('abcdefghij'.repeat(30)).every(({ length }) => length <= 70),
    'letters that are no words take longer',
  );
  t.ok(runs(plain, 0.25).length > 1, 'slow speech is cut shorter');
});
