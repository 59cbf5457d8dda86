/** Short stretches of one turn, which are transcribed together. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { msOf, dictated } from '../../../../../fixtures/conversation/turn-transcriptions.js';

t.test('short stretches of one turn are transcribed together', async (t) => {
  const { finals, transcripts, counted } = dictated(400, 500, 600);
  await turn();
  t.same(finals().map(msOf), [1180, 600 + 100 + 700, 600 + 100 + 700 + 100 + 800], 'their voiced parts');
  exactly(t, finals()[1]?.request, { uncounted: true });
  finals()[2]?.answer('555-267.');
  await turn();
  t.same(transcripts, [
    [1, 'Part 1.', true],
    [2, 'Parts 1, 2.', true, 1],
    [3, '555-267.', true, 1],
  ]);
  t.same(counted, [1.28, 1.38], 'each counts once');
});

t.test(
  'a stretch is heard alone if it is long and its neighbour is, or if they would be too long together',
  async (t) => {
    t.same(dictated(2500, 3000).finals().map(msOf), [3280, 3780], 'two sentences');
    t.same(dictated(2500, 500).finals().map(msOf), [3280, 2700 + 100 + 700], 'a sentence and a word');
    const many = dictated(1700, 1700, 1700, 1700, 1700, 1700).finals().map(msOf);
    t.same(many, [2480, 3900, 5900, 7900, 9900, 2480], 'others follow in a group of their own');
  },
);

t.test('stretches of another turn are not heard with it', async (t) => {
  const { transcriber, finals, speak, voice } = dictated(400, 500);
  transcriber.begin(3);
  speak(480);
  voice(400);
  void transcriber.transcribe(3);
  t.equal(msOf(finals()[2]), 880);
  transcriber.begin(4, 3);
  voice(400);
  speak(300);
  void transcriber.transcribe(4);
  t.equal(msOf(finals()[3]), 500 + 100 + 500);
});

t.test('where no words are found in stretches together, the last one is heard alone', async (t) => {
  const { finals, transcripts, counted } = dictated(400, 500);
  finals()[1]?.answer('');
  await turn();
  t.equal(msOf(finals()[2]), 1280);
  finals()[2]?.answer('');
  await turn();
  t.equal(msOf(finals()[3]), 700);
  finals()[3]?.answer('Five.');
  await turn();
  t.same(transcripts, [
    [1, 'Part 1.', true],
    [2, 'Five.', true],
  ]);
  t.same(counted, [1.28], 'and counts once');
});

t.test('a transcript of stretches together that leaves some out is not believed', async (t) => {
  const { finals, transcripts } = dictated(400, 500, 600);
  await turn();
  finals()[2]?.answer('8.');
  await turn();
  t.equal(msOf(finals()[3]), 1380, 'there were two words before');
  finals()[3]?.answer('Eight one oh nine.');
  await turn();
  t.same(transcripts.slice(1), [
    [2, 'Parts 1, 2.', true, 1],
    [3, 'Eight one oh nine.', true],
  ]);
});

t.test('a transcript of stretches together that has no word for the last one is not believed', async (t) => {
  for (const [ms, isBelieved] of [
    [400, true],
    [500, false],
  ] as const) {
    const { finals } = dictated(400, ms);
    finals()[1]?.answer('It was.');
    await turn();
    t.equal(finals().length, isBelieved ? 2 : 3, `${ms} ms`);
  }
});

t.test(
  'a transcript of stretches with more words than can be said in that time is not believed',
  async (t) => {
    for (const [text, isBelieved] of [
      ['1-2-9-4.', true],
      ['1-2-9-4-7-0-1-1-1-1.', false],
      ['One two three four five.', true],
      ['One two three four five six.', false],
    ] as const) {
      const { finals } = dictated(400, 500);
      finals()[1]?.answer(text);
      await turn();
      t.equal(finals().length, isBelieved ? 2 : 3, `${text} in 0.9 s`);
    }
  },
);

t.test('stretches are transcribed together in a short pause, too', async (t) => {
  const { transcriber, finals, transcripts, counted, speak, voice } = dictated(400, 500);
  finals()[1]?.answer('Parts 1, 2.');
  transcriber.begin(3, 1);
  speak(480);
  voice(400);
  transcriber.shortPause(true);
  t.equal(msOf(finals()[2]), 600 + 100 + 700 + 100 + 500, 'all that has been heard');
  speak(160);
  void transcriber.transcribe(3);
  finals()[2]?.answer('Five five five.');
  await turn();
  t.same(transcripts.at(-1), [3, 'Five five five.', true, 1]);
  t.equal(finals().length, 3);
  t.same(counted, [1.28, 1.04]);
});
