/** When a recogniser is asked once more for the same words. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../../contracts/errors.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { listening, msOf } from '../../../../../fixtures/conversation/turn-transcriptions.js';

t.test(
  'a recogniser that failed at the short pause is asked again, one that did not answer is not',
  async (t) => {
    for (const [error, times, lost] of [
      [new Error('busy'), 2, []],
      [new ServiceError('first_byte_timeout'), 1, ['first_byte_timeout']],
    ] as const) {
      const { transcriber, asked, transcripts, losses, speak } = listening();
      transcriber.begin(1);
      speak(300);
      transcriber.shortPause(true);
      void transcriber.transcribe(1);
      asked[0]?.fail(error);
      await turn();
      t.equal(asked.length, times);
      asked[1]?.answer('Hello.');
      await turn();
      t.same(transcripts, [[1, times === 2 ? 'Hello.' : '', true]]);
      t.same(losses, lost);
    }
  },
);

t.test('a stretch without words in its short pause is transcribed once more at its end', async (t) => {
  const { transcriber, asked, transcripts, counted, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.shortPause(true);
  void transcriber.transcribe(1);
  asked[0]?.answer('');
  await turn();
  asked[1]?.answer('Yes.');
  await turn();
  t.same(transcripts, [[1, 'Yes.', true]]);
  t.same(counted, [], 'and counts once, as any');
});

t.test('where there are no words the recogniser is asked once more for the voiced part', async (t) => {
  for (const [words, hasPause] of [
    ['Five five five.', false],
    ['Five five five.', true],
    ['', false],
    ['', true],
  ] as const) {
    const { transcriber, asked, transcripts, counted, speak, voice } = listening();
    transcriber.begin(1);
    speak(480);
    voice(600);
    if (hasPause) transcriber.shortPause(true);
    speak(300);
    void transcriber.transcribe(1);
    const finals = () => asked.filter(({ request }) => !request.interim);
    const wholes = hasPause ? 2 : 1;
    for (let whole = 0; whole < wholes; whole += 1) {
      t.notSame(msOf(finals().at(-1)), 800);
      finals().at(-1)?.answer('');
      await turn();
    }
    t.equal(msOf(asked.at(-1)), 800, 'a tenth of a second on both sides');
    exactly(t, asked.at(-1)?.request, { uncounted: true, interim: undefined }, 'which has counted');
    asked.at(-1)?.answer(words);
    await turn();
    t.same(transcripts, [[1, words, true]], 'and not again');
    t.equal(finals().length, wholes + 1);
    t.same(counted, []);
  }
});

t.test('a recogniser that fails when it is asked again has heard no words', async (t) => {
  const { transcriber, asked, transcripts, losses, speak, voice } = listening();
  transcriber.begin(1);
  speak(480);
  voice(100);
  void transcriber.transcribe(1);
  asked[0]?.answer('');
  await turn();
  asked[1]?.fail();
  await turn();
  t.same(transcripts, [[1, '', true]]);
  t.same(losses, []);
});

t.test('nobody is asked again for a voice in the background, or in words that are known', async (t) => {
  const { transcriber, asked, background, speak, voice } = listening();
  transcriber.beginBackground();
  speak(480);
  voice(100);
  transcriber.endBackground();
  asked[0]?.answer('');
  await turn();
  t.same(background, ['']);
  transcriber.begin(1);
  speak(480);
  voice(100);
  void transcriber.transcribe(1);
  asked[1]?.answer('Yes.');
  await turn();
  t.equal(asked.length, 2);
});

t.test(
  'where the words do not hold what was asked for, other hearings of the same voice are tried',
  async (t) => {
    for (const [answers, told] of [
      [['Maybe.', 'K, a, y, e.'], 'K, a, y, e.'],
      [['Maybe.', 'Or.', 'K, a, y, e.'], 'K, a, y, e.'],
      [['Maybe.', 'Or.', 'Not.'], 'Maybe.'],
      [['K, a, y, e.'], 'K, a, y, e.'],
    ] as const) {
      const { transcriber, asked, transcripts, counted, speak, voice } = listening(undefined, (text) =>
        text.startsWith('K'),
      );
      transcriber.begin(1);
      speak(500);
      voice(1800);
      speak(500);
      void transcriber.transcribe(1);
      const finals = () => asked.filter(({ request }) => !request.interim);
      for (const [at, text] of answers.entries()) {
        finals()[at]?.answer(text);
        await turn();
        await turn();
      }
      t.same(transcripts, [[1, told, true]]);
      t.equal(finals().length, answers.length);
      t.same(counted, [], 'only the first counts');
      const [whole, quick] = finals().map((each) => msOf(each));
      if (quick !== undefined)
        t.ok(Math.abs(quick - (whole ?? 0) / 1.125) < 2, 'the second is an eighth faster');
    }
  },
);

t.test('a voice too short for a spelling is heard once', async (t) => {
  const { transcriber, asked, transcripts, voice } = listening(undefined, () => false);
  transcriber.begin(1);
  voice(400);
  void transcriber.transcribe(1);
  asked[0]?.answer('No.');
  await turn();
  t.same(transcripts, [[1, 'No.', true]]);
});
