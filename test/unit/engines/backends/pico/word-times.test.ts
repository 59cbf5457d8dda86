/** Marks in the text for Pico, and the times of words from where they passed. */
import t from '../../../../fixtures/tap.js';
import { type Break, MARK } from '../../../../../engines/backends/pico/program.js';
import { markedText, wordTimes } from '../../../../../engines/backends/pico/word-times.js';
import { unitsOf } from '../../../../../engines/backends/spoken-units.js';

const marked = (text: string, language = 'de') => markedText(unitsOf(text, language, false), true);
const shown = (text: string): string => marked(text).text.replaceAll(MARK, '|');

t.test('marks stand between words, and tear nothing apart that is read together', async (t) => {
  t.equal(shown('Guten Tag, wie geht es?'), 'Guten |Tag, |wie |geht |es?');
  t.equal(shown('Am 3. Oktober um 14:30 Uhr'), 'Am 3. Oktober |um 14:30 Uhr');
  t.equal(shown('bei Dr. Müller, z. B. hier'), 'bei |Dr. Müller, |z. B. hier');
  t.equal(shown('Il vient demain !'), 'Il |vient |demain!');
  t.equal(markedText(unitsOf('Guten Tag'), false).text, 'Guten Tag');
  t.strictSame(marked('Am 3. Oktober um zwei').marked, [3, 4]);
});

t.test('markup and control characters of the text do not reach the program', async (t) => {
  t.equal(
    shown('<speed level="500">Hallo</speed> \\pause=9\\ du\u0000da'),
    'speed level="500" Hallo /speed pause=9 du da',
  );
  t.notMatch(marked(`${MARK} Hallo ${MARK}`).text.replaceAll(MARK, ''), /[<>]/);
});

/** Speech between these samples, silence elsewhere. */
function speech(length: number, ...spans: readonly (readonly [number, number])[]): Int16Array {
  const samples = new Int16Array(length);
  for (const [from, to] of spans) samples.fill(1000, from, to);
  return samples;
}

const timesOf = (text: string, samples: Int16Array, breaks: readonly Break[], from = 0) => {
  const units = unitsOf(text, 'de', false);
  return wordTimes(units, markedText(units, true).marked, { samples, breaks }, from).map(
    ({ text: word, start, end }) => [word, start * 16_000, end * 16_000],
  );
};

t.test('a word lasts from its mark to the next, without the silence before that', async (t) => {
  const samples = speech(1000, [100, 300], [400, 900]);
  t.strictSame(timesOf('eins zwei drei', samples, [{ at: 400, marks: 1 }, { at: 600, marks: 1 }]), [
    ['eins', 100, 300],
    ['zwei', 400, 600],
    ['drei', 600, 900],
  ]); // oxfmt-ignore
  t.strictSame(timesOf('eins zwei', samples, [{ at: 400, marks: 1 }], 60), [['eins', 40, 240], ['zwei', 340, 840]]); // oxfmt-ignore
});

t.test('words without a mark share the time of the one before them by their length', async (t) => {
  const samples = speech(1000, [0, 1000]);
  t.strictSame(timesOf('Am 3. Oktober um', samples, [{ at: 500, marks: 1 }]), [
    ['Am', 0, 500 * (2 / 11)],
    ['3.', 500 * (2 / 11), 500 * (4 / 11)],
    ['Oktober', 500 * (4 / 11), 500],
    ['um', 500, 1000],
  ]); // oxfmt-ignore
});

t.test(
  'a sentence that begins stands for the mark that it hides, and for none where all have passed',
  async (t) => {
    const samples = speech(1000, [0, 1000]);
    const hidden: readonly Break[] = [{ at: 300, marks: undefined }, { at: 700, marks: 1 }]; // oxfmt-ignore
    t.strictSame(timesOf('eins! zwei drei', samples, hidden).map(([, start]) => start), [0, 300, 700]); // oxfmt-ignore
    const known: readonly Break[] = [{ at: 200, marks: 1 }, { at: 500, marks: undefined }, { at: 700, marks: 1 }]; // oxfmt-ignore
    t.strictSame(timesOf('eins zwei drei', samples, known).map(([, start]) => start), [0, 200, 700]); // oxfmt-ignore
  },
);

t.test('more or fewer marks than there should be lose no word', async (t) => {
  const samples = speech(1000, [0, 1000]);
  for (const breaks of [
    [],
    [{ at: 100, marks: 9 }],
    [
      { at: 100, marks: 0 },
      { at: 200, marks: undefined },
    ],
  ]) {
    const words = timesOf('eins zwei drei vier', samples, breaks);
    t.strictSame(words.map(([word]) => word), ['eins', 'zwei', 'drei', 'vier']); // oxfmt-ignore
    t.equal(words.at(-1)?.[2], 1000);
  }
});
