/** Word alignment in one process: words of transcripts, time warping, the words of `tone`. */
import t from '../../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../../contracts/audio.js';
import type { TimedWord, TtsEngine } from '../../../../contracts/ports/speech/tts.js';
import { createAlign } from '../../../../engines/alignment/align.js';
import { COEFFICIENTS, featuresOf } from '../../../../engines/alignment/features.js';
import { Fourier } from '../../../../engines/fourier.js';
import { fillTimes, share, wordsIn } from '../../../../engines/alignment/transcript-words.js';
import { warp } from '../../../../engines/alignment/warp.js';
import { createToneSpeech, createToneTranscriber } from '../../../../engines/backends/tone/index.js';
import { speakAll } from '../../../fixtures/engine-conformance.js';
import { createTranscription } from '../../../../engines/transcribe.js';
import { createRegistry } from '../../../../engines/registry.js';
import type { Transcriber } from '../../../../engines/long-audio.js';
import { joined, silence, streamed } from '../../../fixtures/engines/listening.js';

const neverAborted = new AbortController().signal;

/** Notes of 100 ms in the given order, each with its own timbre. */
function melody(notes: readonly number[], length = RECOGNITION_RATE / 10): Int16Array {
  return joined(
    ...notes.map((note) =>
      Int16Array.from({ length }, (_, index) => {
        const turn = (2 * Math.PI * index) / RECOGNITION_RATE;
        return 8000 * Math.sin(300 * (note + 1) * turn) + 3000 * Math.sin(220 * (note + 3) * turn);
      }),
    ),
  );
}

t.test('words are what white space divides, and single characters of scripts without it', async (t) => {
  t.same(wordsIn(' Hello,  it is 10:30.\n'), ['Hello,', 'it', 'is', '10:30.']);
  t.same(wordsIn('你好，世界 ok'), ['你', '好，', '世', '界', 'ok']);
  t.same(wordsIn('ラーメンを'), ['ラー', 'メ', 'ン', 'を']);
  t.same(wordsIn('안녕 하세요'), ['안녕', '하세요']);
  t.same(wordsIn(' '), []);
  const mixed = '"Quoted" …and 日本語 text — done!';
  t.equal(wordsIn(mixed).join(''), mixed.replace(/\s/gu, ''), 'no character is lost');
});

t.test('a span is shared by length, and unknown words lie between their neighbours', async (t) => {
  t.same(share(['aa', 'bbbb'], { start: 1, end: 4 }), [
    { text: 'aa', start: 1, end: 2 },
    { text: 'bbbb', start: 2, end: 4 },
  ]);
  const known = [undefined, { start: 1, end: 2 }, undefined, undefined, { start: 4, end: 5 }, undefined];
  t.same(fillTimes(['a', 'b', 'c', 'd', 'e', 'f'], known, { start: 0, end: 6 }), [
    { text: 'a', start: 0, end: 1 },
    { text: 'b', start: 1, end: 2 },
    { text: 'c', start: 2, end: 3 },
    { text: 'd', start: 3, end: 4 },
    { text: 'e', start: 4, end: 5 },
    { text: 'f', start: 5, end: 6 },
  ]);
  t.same(
    fillTimes(['a', 'b'], [], { start: 0, end: 2 }).map(({ end }) => end),
    [1, 2],
    'nothing known',
  );
  t.same(fillTimes([], [], { start: 0, end: 2 }), []);
});

t.test('the transform finds a tone where it is, and keeps its energy', async (t) => {
  const fourier = new Fourier(64);
  const power = new Float64Array(33);
  const frame = Float64Array.from({ length: 64 }, (_, index) => Math.cos((2 * Math.PI * 5 * index) / 64));
  fourier.power(frame, power);
  t.equal(power.indexOf(Math.max(...power)), 5);
  t.ok(Math.abs(power[5]! - 32 ** 2) < 1e-6, String(power[5]));
  t.ok(
    power.every((value, bin) => bin === 5 || value < 1e-9),
    'nothing elsewhere',
  );
});

t.test('two frames at once have the powers that each has alone', async (t) => {
  const fourier = new Fourier(64);
  const frames = [5, 11].map((tone) =>
    Float64Array.from({ length: 64 }, (_, at) => Math.sin(tone * at * at)),
  );
  const [one, other] = [frames[0]!, frames[1]!];
  const together: [Float64Array, Float64Array] = [new Float64Array(33), new Float64Array(33)];
  fourier.powers(one, other, ...together);
  for (const [index, frame] of frames.entries()) {
    const alone = new Float64Array(33);
    fourier.power(frame, alone);
    const worst = Math.max(...alone.map((power, bin) => Math.abs(power - together[index]![bin]!)));
    t.ok(worst < 1e-9, `off by ${worst}`);
  }
});

t.test('features have one row for 10 ms, and are finite for silence and crumbs', async (t) => {
  t.equal(featuresOf(silence(1)).frames, 98);
  t.equal(featuresOf(new Int16Array(399)).frames, 0);
  t.equal(featuresOf(new Int16Array(400)).frames, 1);
  for (const samples of [silence(1), melody([1]), new Int16Array(4000).fill(-32768)]) {
    const { frames, values } = featuresOf(samples);
    t.equal(values.length, frames * COEFFICIENTS);
    t.ok(values.every(Number.isFinite));
  }
});

t.test('warping finds every note of a melody that is played slower, with pauses', async (t) => {
  const notes = [0, 4, 1, 6, 2, 7, 3, 5];
  const lengths = notes.map((_, index) => Math.round(RECOGNITION_RATE * (0.1 + 0.01 * index)));
  const parts = notes.map((note, index) => melody([note], lengths[index]));
  const heard = joined(silence(0.1), ...parts.slice(0, 4), silence(0.15), ...parts.slice(4));
  const path = warp(featuresOf(melody(notes)), featuresOf(heard));
  let at = 0.1;
  notes.forEach((note, index) => {
    if (index === 4) at += 0.15;
    const middle = at + lengths[index]! / RECOGNITION_RATE / 2;
    const frame = index * 10 + 4;
    t.ok(
      Math.abs(path!.first[frame]! / 100 - middle) < 0.06,
      `note ${note}: ${path!.first[frame]} for ${middle}`,
    );
    at += lengths[index]! / RECOGNITION_RATE;
  });
  t.ok(
    path!.first.every(
      (first, row) => first <= path!.last[row]! && (row === 0 || first >= path!.last[row - 1]!),
    ),
    'in order',
  );
  t.equal(warp(featuresOf(new Int16Array(0)), featuresOf(heard)), undefined);
  const lopsided = warp(featuresOf(melody([1])), featuresOf(melody([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])));
  t.equal(lopsided?.first[0], 0, 'sides of very different length');
  t.equal(lopsided?.last.at(-1), 97);
});

/** An engine that says each word as a note of 100 ms, but only words of letters; it claims to support any speed. */
const notes = (yields: (text: string) => readonly TimedWord[]): TtsEngine => ({
  ...createToneSpeech(),
  async *synthesize({ text }) {
    const words = yields(text);
    for (const word of words) yield { kind: 'word', word };
    yield { kind: 'audio', samples: melody(words.map(({ text }) => text.length)) };
  },
});

const lettersOnly = (text: string): TimedWord[] =>
  text
    .split(' ')
    .filter((word) => /[a-z]/u.test(word))
    .map((text, index) => ({ text, start: index / 10, end: (index + 1) / 10 }));

t.test('words that the reading voice cannot say lie between the others', async (t) => {
  const align = createAlign({ engine: notes(lettersOnly), voice: 'tone' });
  const heard = melody([1, 3, 6], RECOGNITION_RATE / 5);
  const words = await align(heard, 'a ** bbb 你 cccccc ...', neverAborted);
  t.same(
    words.map(({ text }) => text),
    ['a', '**', 'bbb', '你', 'cccccc', '...'],
  );
  const times = words.flatMap(({ start, end }) => [start, end]);
  t.same(
    times,
    [...times].sort((a, b) => a - b),
    'in order',
  );
  t.ok(Math.abs(words[2]!.start - 0.2) < 0.05 && Math.abs(words[2]!.end - 0.4) < 0.05, JSON.stringify(words));
  t.ok(times.at(-1)! <= 0.6, 'within the audio');
});

t.test('a reading that cannot be what was said is not followed, nor a voice that says nothing', async (t) => {
  const endless: TtsEngine = {
    ...createToneSpeech(),
    async *synthesize() {
      for (;;) yield { kind: 'audio', samples: silence(1) };
    },
  };
  for (const engine of [endless, notes(() => [])]) {
    const words = await createAlign({ engine, voice: 'tone' })(silence(2), 'aa bb', neverAborted);
    t.same(
      words.map(({ start, end }) => [start, end]),
      [
        [0, 1],
        [1, 2],
      ],
    );
  }
  const long = await createAlign({ engine: notes(lettersOnly), voice: 'tone' })(
    silence(40),
    'aa bb',
    neverAborted,
  );
  t.same(long.at(-1), { text: 'bb', start: 20, end: 40 }, 'longer than any piece');
});

const say = async (text: string) => {
  const request = { text, voice: 'tone', language: 'en', speed: 1, timing: true } as const;
  return speakAll(createToneSpeech(), request);
};

t.test('tone hears the exact times of its words, and only when they are wanted', async (t) => {
  const [one, two] = [await say('Tones carry text,'), await say('exactly.')];
  const audio = joined(silence(0.5), one.samples, silence(0.7), two.samples);
  const shift = 0.5 + one.samples.length / RECOGNITION_RATE + 0.7;
  const wanted = [
    ...one.words.map((word) => [word, 0.5] as const),
    ...two.words.map((word) => [word, shift] as const),
  ];
  const heard: TimedWord[] = [];
  for await (const { words = [] } of createToneTranscriber().transcribe(
    streamed(audio),
    { words: true },
    neverAborted,
  ))
    heard.push(...words);
  t.same(
    heard.map(({ text }) => text),
    wanted.map(([{ text }]) => text),
  );
  wanted.forEach(([{ start, end }, by], index) => {
    const found = heard[index]!;
    t.ok(
      Math.abs(found.start - start - by) < 0.002 && Math.abs(found.end - end - by) < 0.002,
      `${found.text} ${found.start}`,
    );
  });
  for await (const segment of createToneTranscriber().transcribe(streamed(audio), {}, neverAborted))
    t.notOk(segment.words);
});

t.test('a transcript has words on request, shared by length if the engine gives none', async (t) => {
  const wordless: Transcriber = {
    name: 'wordless',
    languages: 'any',
    async *transcribe(audio) {
      for await (const chunk of audio)
        yield { text: 'aa bb', start: 1, end: 2, ...(chunk.length < 0 && { words: [] }) };
    },
  };
  const transcription = createTranscription({
    registry: createRegistry({ tts: [], stt: [wordless] }),
    admission: {
      check: () => Promise.resolve(),
      reserve: () => Promise.resolve(() => undefined),
      enter: () => Promise.resolve(() => undefined),
      use: () => undefined,
    },
    decode: () => streamed(silence(0.05)),
  });
  const caller = { workspaceId: 'w', keyId: 'k' };
  const request = { audio: new Uint8Array(1), model: 'transcribe-1' } as const;
  const plain = await transcription.transcribe(request, caller, neverAborted);
  t.same(plain, {
    text: 'aa bb',
    duration: 0.05,
    segments: [{ text: 'aa bb', start: 1, end: 2 }],
    by: { engine: 'wordless' },
  });
  const { words } = await transcription.transcribe({ ...request, words: true }, caller, neverAborted);
  t.same(words, [
    { text: 'aa', start: 1, end: 1.5 },
    { text: 'bb', start: 1.5, end: 2 },
  ]);
});
