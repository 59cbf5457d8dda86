/** Words of a turn that are transcribed in a short pause, before it is known whether the turn is over. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { listening } from '../../../../../fixtures/conversation/turn-transcriptions.js';

t.test('in a short pause the words are transcribed before the stretch is known to be over', async (t) => {
  const { transcriber, asked, transcripts, counted, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.shortPause(true);
  exactly(
    t,
    asked[0]?.request,
    { uncounted: true, interim: undefined },
    'before all guesses, and for nothing yet',
  );
  const { chunks } = asked[0]!.request.audio as { readonly chunks: readonly Uint8Array[] };
  t.equal(chunks.at(-1)?.length, 2 * 16 * 288, 'with as much silence behind it as at its end: 9 frames');
  t.notOk(chunks.at(-1)?.some(Boolean));
  speak(160);
  asked[0]?.answer('A table, please.');
  await turn();
  t.same(transcripts, [[1, 'A table, please.', false]], 'the user may go on');
  void transcriber.transcribe(1);
  await turn();
  t.same(transcripts[1], [1, 'A table, please.', true]);
  t.equal(asked.length, 1, 'once');
  t.same(counted, [1], 'and that is used');
});

/** Frames of 32 ms from the short pause to the end: as many as the default detector needs after the load tests' clips, and more. */
for (const { frames, isAll } of [
  { frames: 6, isAll: true },
  { frames: 8, isAll: true },
  { frames: 12, isAll: true },
  { frames: 13, isAll: false },
])
  t.test(
    `listening: ${frames} frames behind a short pause ${isAll ? 'are its silence' : 'hold words of their own'}`,
    async (t) => {
      const { transcriber, asked, speak } = listening();
      transcriber.begin(1);
      speak(500);
      transcriber.shortPause(true);
      speak(32 * frames);
      void transcriber.transcribe(1);
      t.equal(asked.filter(({ request }) => !request.interim).length, isAll ? 1 : 2);
      t.equal(asked[0]?.signal.aborted, !isAll);
    },
  );

t.test('the transcript of a short pause in the middle of a stretch is dropped', async (t) => {
  const { transcriber, asked, transcripts, counted, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.shortPause(true);
  speak(240);
  t.equal(asked.length, 1, 'nothing is guessed beside it');
  transcriber.shortPause(false);
  t.ok(asked[0]?.signal.aborted);
  asked[0]?.answer('A table');
  void transcriber.transcribe(1);
  t.equal(asked[1]?.request.uncounted, undefined);
  asked[1]?.answer('A table for four.');
  await turn();
  t.same(transcripts, [[1, 'A table for four.', true]]);
  t.same(counted, []);
});

t.test(
  'who has partial transcripts anyway is told nothing of what was transcribed ahead, nor is anybody of no words',
  async (t) => {
    for (const { isAwaited, text } of [
      { isAwaited: true, text: 'A table' },
      { isAwaited: false, text: '' },
    ]) {
      const { transcriber, asked, transcripts, speak } = listening();
      transcriber.begin(1, undefined, isAwaited);
      speak(500);
      transcriber.shortPause(true);
      asked[0]?.answer(text);
      await turn();
      t.same(transcripts, []);
    }
  },
);

t.test('words after a short pause that were too soft for a voice are transcribed at the end', async (t) => {
  const { transcriber, asked, transcripts, counted, speak } = listening();
  transcriber.begin(1, undefined, true);
  speak(500);
  transcriber.shortPause(true);
  asked[0]?.answer('A table');
  speak(700);
  exactly(t, asked[1]?.request, { interim: true }, 'it is guessed as ever');
  void transcriber.transcribe(1);
  asked[2]?.answer('A table for four.');
  await turn();
  t.same(transcripts, [[1, 'A table for four.', true]]);
  t.same(counted, []);
});

t.test('a stretch whose transcription failed in its short pause is transcribed at its end', async (t) => {
  const { transcriber, asked, transcripts, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.shortPause(true);
  void transcriber.transcribe(1);
  asked[0]?.fail();
  await turn();
  asked[1]?.answer('A table.');
  await turn();
  t.same(transcripts, [[1, 'A table.', true]]);
});

/** A voice that pauses; its words are known in the pause. */
async function paused(heard = listening(), text = 'Are you open?') {
  const { transcriber, asked, speak } = heard;
  transcriber.begin(1);
  speak(500);
  transcriber.shortPause(true);
  asked[0]?.answer(text);
  await turn();
  return heard;
}

t.test(
  'the words of a short pause are told before its end is certain, and that the voice goes on',
  async (t) => {
    const { transcriber, foreseen, speak } = await paused();
    t.strictSame(foreseen, ['1 Are you open?']);
    speak(100);
    transcriber.shortPause(false);
    t.strictSame(foreseen, ['1 Are you open?', '1 ']);
    transcriber.shortPause(false);
    t.equal(foreseen.length, 2, 'once');
  },
);

t.test('an end that comes as it was foreseen tells nothing more', async (t) => {
  const { transcriber, foreseen, transcripts, speak } = await paused();
  speak(160);
  void transcriber.transcribe(1);
  await turn();
  t.strictSame(transcripts, [
    [1, 'Are you open?', false],
    [1, 'Are you open?', true],
  ]);
  transcriber.begin(2);
  transcriber.shortPause(false);
  t.strictSame(foreseen, ['1 Are you open?']);
});

t.test('words that may not stay are not told in a short pause', async (t) => {
  t.strictSame((await paused(listening(), '')).foreseen, [], 'none');
  const several = listening();
  several.transcriber.languages = ['en', 'de'];
  t.strictSame((await paused(several)).foreseen, [], 'in one of several languages');
  t.strictSame((await paused(listening(undefined, () => false))).foreseen, [], 'without what was asked for');
  const { transcriber, asked, foreseen, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.shortPause(true);
  speak(100);
  transcriber.shortPause(false);
  asked[0]?.answer('Are you open?');
  await turn();
  t.strictSame(foreseen, [], 'nor once the voice has gone on');
});
