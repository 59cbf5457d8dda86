import t from '../../../../fixtures/tap.js';
import { AlignedWords } from '../../../../../engines/backends/elevenlabs-compatible/alignment.js';

/** Each character takes 100 ms. */
const alignmentOf = (text: string, from: number) => ({
  chars: [...text],
  charStartTimesMs: [...text].map((_, at) => from + at * 100),
  charDurationsMs: [...text].map(() => 100),
});

t.test('words end with a blank, or with the speech', async (t) => {
  const words = new AlignedWords();
  t.same(words.add(alignmentOf(' Hi y', 0), 0), [{ text: 'Hi', start: 0.1, end: 0.3 }]);
  t.same(words.add(alignmentOf('ou.', 500), 500), [], 'a word may go on in the next frame');
  t.same(words.rest(), [{ text: 'you.', start: 0.4, end: 0.8 }]);
  t.same(words.rest(), []);
});

t.test('times count from the beginning of the speech, or of each part of it', async (t) => {
  const absolute = new AlignedWords();
  absolute.add(alignmentOf('one ', 0), 0);
  absolute.add(alignmentOf('', 0), 450);
  t.same(absolute.add(alignmentOf('two ', 400), 450), [{ text: 'two', start: 0.4, end: 0.7 }]);
  const relative = new AlignedWords();
  relative.add(alignmentOf('one ', 0), 0);
  t.same(relative.add(alignmentOf('two ', 0), 450), [{ text: 'two', start: 0.45, end: 0.75 }]);
  t.same(relative.add(alignmentOf('six ', 300), 850), [{ text: 'six', start: 0.75, end: 1.05 }]);
});

t.test('what is no alignment gives no words', async (t) => {
  const words = new AlignedWords();
  const whole = alignmentOf('one ', 0);
  const odd: readonly unknown[] = [
    null,
    undefined,
    'one',
    [],
    { ...whole, chars: 'one ' },
    { ...whole, chars: ['one'] },
    { ...whole, charStartTimesMs: [0, -1, 2, 3] },
    { ...whole, charDurationsMs: [0, 1, 'x', 3] },
  ];
  for (const each of odd) t.same(words.add(each, 0), []);
  t.same(words.rest(), []);
});
