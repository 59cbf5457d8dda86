/** The user’s transcript of a turn: partial transcripts while it lasts, and the words at its end. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { listening, dictated } from '../../../../../fixtures/conversation/turn-transcriptions.js';

t.test('a stretch of voice has partial transcripts one at a time, and its words at the end', async (t) => {
  const { transcriber, asked, transcripts, speak } = listening();
  transcriber.begin(1);
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

t.test('partial transcripts are further apart, the longer the stretch is', async (t) => {
  const { transcriber, asked, speak } = listening();
  const at: number[] = [];
  transcriber.begin(1);
  for (let ms = 100; ms <= 10_000; ms += 100) {
    speak(100);
    if (asked.length === at.length) continue;
    at.push(ms);
    asked.at(-1)?.answer('so far');
    await turn();
  }
  t.same(at, [600, 1200, 1800, 2700, 4100, 6200, 9300], 'each is half of what the last one read behind it');
});

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
