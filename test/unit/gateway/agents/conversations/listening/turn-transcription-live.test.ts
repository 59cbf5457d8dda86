/** Turns whose recogniser hears while somebody speaks. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { listening, msOf } from '../../../../../fixtures/conversation/turn-transcriptions.js';
import { ToldHearing } from '../../../../../fixtures/engines/told-hearing.js';
import { exactly } from '../../../../../fixtures/exactly.js';

function spoken() {
  const hearing = new ToldHearing();
  const heard = listening(hearing.listen);
  heard.transcriber.begin(1);
  heard.voice(4000);
  return { hearing, ...heard };
}

t.test('a stretch is heard once, while it is spoken', async (t) => {
  const { hearing, transcriber, transcripts, asked, counted, speak } = spoken();
  hearing.say('I would');
  await turn();
  transcriber.shortPause(true);
  speak(300);
  void transcriber.transcribe(1);
  hearing.say('I would like tea.', true);
  await turn();
  await turn();
  t.same(transcripts, [
    [1, 'I would', false],
    [1, 'I would like tea.', true],
  ]);
  t.same(asked, [], 'nothing is sent a second time');
  t.same([hearing.heard, hearing.ended], [[16 * 4300], 1], 'all of it, and then its end');
  exactly(t, hearing.requests[0], { language: 'en', sampleRate: 16_000, uncounted: true });
  t.same(counted, [2]);
});

t.test('one that fails costs no word: partial transcripts and the whole are made of the audio', async (t) => {
  const { hearing, transcriber, transcripts, asked, voice } = spoken();
  hearing.fail();
  await turn();
  voice(700);
  exactly(t, asked[0]?.request, { interim: true });
  asked[0]?.answer('I would');
  await turn();
  void transcriber.transcribe(1);
  await turn();
  exactly(t, asked[1]?.request, { model: 'transcribe-1' });
  t.equal(msOf(asked[1]), 4700);
  asked[1]?.answer('I would like tea.');
  await turn();
  t.same(transcripts.at(-1), [1, 'I would like tea.', true]);
});

t.test('words that were not heard are looked for in the whole, as ever', async (t) => {
  const { hearing, transcriber, asked, transcripts } = spoken();
  void transcriber.transcribe(1);
  hearing.say('', true);
  await turn();
  await turn();
  t.equal(asked.length, 1);
  asked[0]?.answer('Tea.');
  await turn();
  t.same(transcripts.at(-1), [1, 'Tea.', true]);
});

t.test('noise is taken from whole audio only, and the end of a call leaves the service', async (t) => {
  const quiet = new ToldHearing();
  const { transcriber } = listening(quiet.listen);
  transcriber.reducesNoise = true;
  transcriber.begin(1);
  t.same(quiet.requests, []);
  const { hearing, transcriber: other, transcripts } = spoken();
  other.begin(2);
  t.equal(hearing.left, 1, 'a stretch that another one replaces is not listened to');
  hearing.say('');
  await turn();
  t.same(transcripts, [], 'no words are no partial transcript');
  other.stop();
  t.equal(hearing.left, 2);
});
