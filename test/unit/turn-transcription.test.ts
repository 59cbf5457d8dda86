/** The user's transcript of a turn: partial transcripts while it lasts, and the words at its end (gateway/conversations). */
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { ServiceError } from '../../contracts/errors.js';
import { silentLog } from '../../contracts/log.js';
import type { Transcription, TranscriptionRequest } from '../../contracts/ports/speech/speech.js';
import { TurnTranscription } from '../../gateway/conversations/listening/turn-transcription.js';

interface Asked {
  readonly request: TranscriptionRequest;
  readonly signal: AbortSignal;
  answer(text: string): void;
  fail(error?: Error): void;
}

function listening() {
  const asked: Asked[] = [];
  const transcripts: [span: number, text: string, final: boolean, joins?: number][] = [];
  const losses: string[] = [];
  const background: string[] = [];
  /** Seconds of audio that was transcribed before its end was certain, and turned out to be all. */
  const counted: number[] = [];
  const transcription: Transcription = {
    count: (_caller, seconds) => void counted.push(seconds),
    checkLanguage: () => undefined,
    reducesNoise: true,
    transcribe: (request, _caller, signal) =>
      new Promise((resolve, reject) => {
        const answer = (text: string): void => resolve({ text, duration: 1, segments: [] });
        asked.push({ request, signal, answer, fail: (error = new Error('busy')) => reject(error) });
      }),
  };
  const transcriber = new TurnTranscription(
    {
      transcription,
      model: 'transcribe-1' as never,
      caller: { workspaceId: 'w', keyId: 'k' },
      language: 'en',
      log: silentLog,
      recognised: () => undefined,
    },
    {
      user: ({ span, text, final, lost, joins }) => {
        transcripts.push(joins === undefined ? [span, text, final] : [span, text, final, joins]);
        if (lost !== undefined) losses.push(lost);
      },
      background: (text) => background.push(text),
    },
  );
  return {
    transcriber,
    asked,
    transcripts,
    losses,
    background,
    counted,
    /** Silence, and a voice. */
    speak: (ms: number) => transcriber.audio(new Int16Array(16 * ms)),
    voice: (ms: number) => transcriber.audio(new Int16Array(16 * ms).fill(8000)),
  };
}

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

t.test('a recogniser that failed at the lull is asked again, one that did not answer is not', async (t) => {
  for (const [error, times, lost] of [
    [new Error('busy'), 2, []],
    [new ServiceError('first_byte_timeout'), 1, ['first_byte_timeout']],
  ] as const) {
    const { transcriber, asked, transcripts, losses, speak } = listening();
    transcriber.begin(1);
    speak(300);
    transcriber.lull(true);
    void transcriber.transcribe(1);
    asked[0]?.fail(error);
    await turn();
    t.equal(asked.length, times);
    asked[1]?.answer('Hello.');
    await turn();
    t.same(transcripts, [[1, times === 2 ? 'Hello.' : '', true]]);
    t.same(losses, lost);
  }
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

t.test('in a lull the words are transcribed before the stretch is known to be over', async (t) => {
  const { transcriber, asked, transcripts, counted, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.lull(true);
  t.match(
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
  t.same(transcripts, [], 'the user may go on');
  void transcriber.transcribe(1);
  await turn();
  t.same(transcripts, [[1, 'A table, please.', true]]);
  t.equal(asked.length, 1, 'once');
  t.same(counted, [1], 'and that is used');
});

/** Frames of 32 ms from the lull to the end: as many as the default detector needs after the load tests' clips, and more. */
for (const { frames, isAll } of [
  { frames: 6, isAll: true },
  { frames: 8, isAll: true },
  { frames: 12, isAll: true },
  { frames: 13, isAll: false },
])
  t.test(
    `listening: ${frames} frames behind a lull ${isAll ? 'are its silence' : 'hold words of their own'}`,
    async (t) => {
      const { transcriber, asked, speak } = listening();
      transcriber.begin(1);
      speak(500);
      transcriber.lull(true);
      speak(32 * frames);
      void transcriber.transcribe(1);
      t.equal(asked.filter(({ request }) => !request.interim).length, isAll ? 1 : 2);
      t.equal(asked[0]?.signal.aborted, !isAll);
    },
  );

t.test('the transcript of a lull in the middle of a stretch is dropped', async (t) => {
  const { transcriber, asked, transcripts, counted, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.lull(true);
  speak(240);
  t.equal(asked.length, 1, 'nothing is guessed beside it');
  transcriber.lull(false);
  t.ok(asked[0]?.signal.aborted);
  asked[0]?.answer('A table');
  void transcriber.transcribe(1);
  t.equal(asked[1]?.request.uncounted, undefined);
  asked[1]?.answer('A table for four.');
  await turn();
  t.same(transcripts, [[1, 'A table for four.', true]]);
  t.same(counted, []);
});

t.test('words after a lull that were too soft for a voice are transcribed at the end', async (t) => {
  const { transcriber, asked, transcripts, counted, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.lull(true);
  asked[0]?.answer('A table');
  speak(700);
  t.match(asked[1]?.request, { interim: true }, 'it is guessed as ever');
  void transcriber.transcribe(1);
  asked[2]?.answer('A table for four.');
  await turn();
  t.same(transcripts, [[1, 'A table for four.', true]]);
  t.same(counted, []);
});

t.test('a stretch without words in its lull is transcribed once more at its end', async (t) => {
  const { transcriber, asked, transcripts, counted, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.lull(true);
  void transcriber.transcribe(1);
  asked[0]?.answer('');
  await turn();
  asked[1]?.answer('Yes.');
  await turn();
  t.same(transcripts, [[1, 'Yes.', true]]);
  t.same(counted, [], 'and counts once, as any');
});

/** Milliseconds of the audio of a question. */
const msOf = (asked: Asked | undefined): number => {
  const { chunks } = asked!.request.audio as { readonly chunks: readonly Uint8Array[] };
  return chunks.reduce((sum, { length }) => sum + length, 0) / 2 / 16;
};

t.test('where there are no words the recogniser is asked once more for the voiced part', async (t) => {
  for (const [words, hasLull] of [
    ['Five five five.', false],
    ['Five five five.', true],
    ['', false],
    ['', true],
  ] as const) {
    const { transcriber, asked, transcripts, counted, speak, voice } = listening();
    transcriber.begin(1);
    speak(480);
    voice(600);
    if (hasLull) transcriber.lull(true);
    speak(300);
    void transcriber.transcribe(1);
    const finals = () => asked.filter(({ request }) => !request.interim);
    const wholes = hasLull ? 2 : 1;
    for (let whole = 0; whole < wholes; whole += 1) {
      t.notSame(msOf(finals().at(-1)), 800);
      finals().at(-1)?.answer('');
      await turn();
    }
    t.equal(msOf(asked.at(-1)), 800, 'a tenth of a second on both sides');
    t.match(asked.at(-1)?.request, { uncounted: true, interim: undefined }, 'which has counted');
    asked.at(-1)?.answer(words);
    await turn();
    t.same(transcripts, [[1, words, true]], 'and not again');
    t.equal(finals().length, wholes + 1);
    t.same(counted, []);
  }
});

/** Hears stretches of that many milliseconds, of one turn; the last one is not answered yet. */
function dictated(...lengths: readonly number[]) {
  const heard = listening();
  const { transcriber, asked, speak, voice } = heard;
  const finals = (): Asked[] => asked.filter(({ request }) => !request.interim);
  lengths.forEach((ms, at) => {
    transcriber.begin(at + 1, at > 0 ? 1 : undefined);
    speak(480);
    voice(ms);
    speak(300);
    void transcriber.transcribe(at + 1);
    if (at < lengths.length - 1)
      finals()
        .at(-1)
        ?.answer(`Part ${at + 1}.`);
  });
  return { ...heard, finals };
}

t.test('short stretches of one turn are transcribed together', async (t) => {
  const { finals, transcripts, counted } = dictated(400, 500, 600);
  await turn();
  t.same(finals().map(msOf), [1180, 600 + 100 + 700, 600 + 100 + 700 + 100 + 800], 'their voiced parts');
  t.match(finals()[1]?.request, { uncounted: true });
  finals()[2]?.answer('555-267.');
  await turn();
  t.same(transcripts, [
    [1, 'Part 1.', true],
    [2, 'Part 2.', true, 1],
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
    [2, 'Part 2.', true, 1],
    [3, 'Eight one oh nine.', true],
  ]);
});

t.test('nor is one that has more than can be said in that time', async (t) => {
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
});

t.test('stretches are transcribed together in a lull, too', async (t) => {
  const { transcriber, finals, transcripts, counted, speak, voice } = dictated(400, 500);
  finals()[1]?.answer('Part 2.');
  transcriber.begin(3, 1);
  speak(480);
  voice(400);
  transcriber.lull(true);
  t.equal(msOf(finals()[2]), 600 + 100 + 700 + 100 + 500, 'all that has been heard');
  speak(160);
  void transcriber.transcribe(3);
  finals()[2]?.answer('Five five five.');
  await turn();
  t.same(transcripts.at(-1), [3, 'Five five five.', true, 1]);
  t.equal(finals().length, 3);
  t.same(counted, [1.28, 1.04]);
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

t.test('a stretch whose transcription failed in its lull is transcribed at its end', async (t) => {
  const { transcriber, asked, transcripts, speak } = listening();
  transcriber.begin(1);
  speak(500);
  transcriber.lull(true);
  void transcriber.transcribe(1);
  asked[0]?.fail();
  await turn();
  asked[1]?.answer('A table.');
  await turn();
  t.same(transcripts, [[1, 'A table.', true]]);
});
