/** The user’s transcript of a turn: partial transcripts while it lasts, and the words at its end. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { listening, dictated } from '../../../../../fixtures/conversation/turn-transcriptions.js';

t.test('a stretch of voice has partial transcripts one at a time, and its words at the end', async (t) => {
  const { transcriber, asked, transcripts, speak } = listening();
  transcriber.begin(1, undefined, true);
  speak(500);
  t.equal(asked.length, 0, 'too little to guess');
  speak(200);
  speak(700);
  t.equal(asked.length, 1);
  t.equal(asked[0]?.request.interim, true);
  asked[0]?.answer('I would');
  await turn();
  speak(600);
  t.equal(asked.length, 2);
  void transcriber.transcribe(1);
  asked[2]?.answer('I would like tea.');
  await turn();
  asked[1]?.answer('late guess');
  await turn();
  t.same(transcripts, [
    [1, 'I would', false],
    [1, 'I would like tea.', true],
  ]);
  const audio = asked[2]?.request.audio;
  const bytes = audio && 'chunks' in audio ? audio.chunks.reduce((sum, { length }) => sum + length, 0) : 0;
  t.equal(bytes, 2000 * 16 * 2, 'all of it');
});

/** When partial transcripts are asked for, in ms, of a stretch of that length in which so much is always found. */
async function guessesOf(begin: (heard: ReturnType<typeof listening>) => void, text: string, ms = 10_000) {
  const heard = listening();
  const at: number[] = [];
  begin(heard);
  const before = heard.asked.length;
  for (let now = 100; now <= ms; now += 100) {
    heard.speak(100);
    if (heard.asked.length === before + at.length) continue;
    at.push(now);
    heard.asked.at(-1)?.answer(text);
    await turn();
  }
  return at;
}

const OFTEN = [600, 1200, 1800, 2700, 4100, 6200, 9300];
const alone = ({ transcriber }: ReturnType<typeof listening>): void => transcriber.begin(1);

/** Who waits for the words of a stretch, and when they get partial transcripts. */
for (const { who, begin, text = 'so far', at } of [
  {
    who: 'an agent that speaks, or has something to say',
    begin: ({ transcriber }: ReturnType<typeof listening>) => transcriber.begin(1, undefined, true),
    at: OFTEN,
  },
  {
    who: 'a client that shows them',
    begin: ({ transcriber }: ReturnType<typeof listening>) => {
      transcriber.showsWords = true;
      transcriber.begin(1);
    },
    at: OFTEN,
  },
  {
    who: 'a turn that has words already',
    begin: ({ transcriber }: ReturnType<typeof listening>) => {
      transcriber.begin(1);
      void transcriber.transcribe(1);
      transcriber.begin(2, 1);
    },
    at: OFTEN,
  },
  { who: 'nobody, and the user speaks on', begin: alone, at: [2400, 4800, 9600] },
  {
    who: 'nobody, and it may be a noise',
    begin: alone,
    text: '',
    at: [2400, 3000, 3800, 4800, 6000, 7500, 9400],
  },
])
  t.test(`partial transcripts for ${who}`, async (t) => t.same(await guessesOf(begin, text), at));

t.test('each stretch of voice is reported once, when it is known, however late', async (t) => {
  const { transcriber, asked, transcripts, speak } = listening();
  transcriber.begin(1);
  speak(300);
  void transcriber.transcribe(1);
  transcriber.begin(2);
  speak(300);
  void transcriber.transcribe(2);
  void transcriber.transcribe(1);
  asked[1]?.answer('for four people.');
  await turn();
  asked[0]?.answer('A table');
  await turn();
  t.same(transcripts, [
    [2, 'for four people.', true],
    [1, 'A table', true],
  ]);
  t.equal(asked.length, 2);
});

t.test('when no more audio comes, what was said so far is reported', async (t) => {
  const { transcriber, asked, transcripts, speak } = listening();
  transcriber.begin(1);
  speak(300);
  void transcriber.transcribe(1);
  transcriber.begin(2);
  speak(300);
  let finished = false;
  const finishing = transcriber.finish().then(() => (finished = true));
  asked[1]?.answer('good bye');
  await turn();
  t.notOk(finished, 'the first one is owed');
  asked[0]?.answer('Well,');
  await finishing;
  t.same(transcripts, [
    [2, 'good bye', true],
    [1, 'Well,', true],
  ]);
});

t.test('a failed transcription counts as no words, and a stopped one reports nothing', async (t) => {
  const { transcriber, asked, transcripts, speak } = listening();
  transcriber.begin(1);
  speak(300);
  void transcriber.transcribe(1);
  asked[0]?.fail();
  await turn();
  t.same(transcripts, [[1, '', true]]);
  transcriber.begin(2);
  speak(300);
  void transcriber.transcribe(2);
  transcriber.stop();
  asked[1]?.answer('too late');
  await turn();
  t.equal(transcripts.length, 1);
});

t.test('at the end of a call words that are recorded are not told again', async (t) => {
  const { transcriber, finals, transcripts } = dictated(400, 500);
  const finished = transcriber.finish();
  finals()[1]?.answer('Part 1 and 2.');
  await turn();
  finals()[2]?.answer('Part 2.');
  await finished;
  t.same(transcripts.at(-1), [2, 'Part 2.', true]);
});
