/** The transcription port over raw audio: partial transcripts of incomplete audio, and segments as they are recognised. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import { bytesOf, RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { TranscriptSegment } from '../../../contracts/ports/speech/speech.js';
import { toneSttDescription } from '../../../engines/backends/tone/description.js';
import { createToneSpeech, createToneTranscriber } from '../../../engines/backends/tone/index.js';
import { sttInChild } from '../../../engines/child-engines.js';
import { speakAll } from '../../fixtures/engine-conformance.js';
import type { TimedSegment, Transcriber } from '../../../engines/long-audio.js';
import { Resampling } from '../../../engines/resampling.js';
import { speechJobs } from '../../../engines/serve-speech.js';
import { inProcess } from '../../fixtures/in-process.js';
import { joined, silence } from '../../fixtures/engines/listening.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import { atRate, caller, cutBy, raw, transcriptionBy } from '../../fixtures/engines/raw-audio.js';
import { until } from '../../fixtures/until.js';

const RATES = [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const TEXT = 'Raw audio, exactly: 3 Ünïcödé words — 日本語 👍!';
const neverAborted = new AbortController().signal;

const tones = async (text = TEXT): Promise<Int16Array> =>
  (await speakAll(createToneSpeech(), { text, voice: 'tone', language: 'en', speed: 1 })).samples;

/** The tone engine through the jobs of a child, run in this process. */
const toneInChild = (): Transcriber =>
  sttInChild(inProcess(speechJobs({ tts: [], stt: [createToneTranscriber()] })), toneSttDescription);

/** An engine that reads all audio and recognises nothing. */
const deafTranscriber: Transcriber = {
  name: 'deaf',
  languages: ['en'],
  async *transcribe(audio) {
    for await (const _samples of audio) continue;
    yield* [];
  },
};

/** An engine that recognises one segment and then waits for the test. */
function heldTranscriber() {
  const waiting: (() => void)[] = [];
  const engine: Transcriber = {
    name: 'held',
    languages: ['en'],
    async *transcribe(_audio, _options, signal): AsyncGenerator<TimedSegment> {
      yield { text: 'first', start: 0, end: 1 };
      await new Promise<void>((resolve) => waiting.push(resolve));
      signal.throwIfAborted();
      yield { text: 'second', start: 1, end: 2 };
    },
  };
  return { engine, waiting };
}

t.test('raw audio of every rate is heard exactly, however it was cut', async (t) => {
  const samples = await tones();
  for (const [name, engine] of [
    ['here', createToneTranscriber()],
    ['in a child', toneInChild()],
  ] as const) {
    const { hear, ledger } = transcriptionBy(engine);
    for (const sampleRate of RATES) {
      const bytes = atRate(samples, sampleRate);
      // Every rate in uneven cuts; one rate also in one piece and in even cuts.
      const cuts = [
        [1, 3, 777, 0x1ffff],
        ...(shortOrLong(sampleRate === 24_000, true) ? [[bytes.length], [640]] : []),
      ];
      for (const lengths of cuts) {
        const { text, duration, words } = await hear(
          { chunks: cutBy(bytes, ...lengths), sampleRate },
          { words: true },
        );
        t.equal(text, TEXT, `${name}, ${sampleRate} Hz, chunks of ${lengths.join(', ')}`);
        t.equal(duration, bytes.length / 2 / sampleRate);
        t.ok(words?.every(({ start, end }) => start >= 0 && end > start && end <= duration));
      }
    }
    t.equal(ledger.entered, ledger.left);
    t.equal(ledger.used.length, ledger.entered);
  }
});

t.test('an odd last byte, and no audio at all', async (t) => {
  const { hear, ledger } = transcriptionBy(toneInChild());
  const bytes = bytesOf(await tones());
  const odd = { chunks: [bytes, Uint8Array.of(7)], sampleRate: RECOGNITION_RATE };
  exactly(t, await hear(odd), { text: TEXT, duration: bytes.length / 32_000 });
  for (const chunks of [[], [new Uint8Array(0)], [Uint8Array.of(1)]])
    t.same(await hear({ chunks, sampleRate: 8000 }), {
      text: '',
      duration: 0,
      segments: [],
      by: { engine: 'tone' },
    });
  t.same(ledger.used.slice(1), [0, 0, 0]);
});

t.test(
  '60 minutes are the most (decision 5), and a rate outside 8 to 48 kHz is refused, before a slot is taken',
  async (t) => {
    const { hear, ledger } = transcriptionBy(deafTranscriber);
    const minute = new Uint8Array(2 * 8000 * 60);
    const hour = Array.from({ length: 60 }, () => minute);
    const longer = { chunks: [...hour, new Uint8Array(2)], sampleRate: 8000 };
    await rejectsExactly(t, hear(longer), { code: 'audio_too_long' });
    for (const sampleRate of [7999, 48_001, 16_000.5, NaN, 0])
      await rejectsExactly(t, hear({ chunks: [minute], sampleRate }), { code: 'unsupported_format' });
    t.equal(ledger.entered, 0);
    exactly(t, await hear({ chunks: hour, sampleRate: 8000 }), { text: '', duration: 3600 });
  },
);

t.test('long audio lets the loop turn all the while', async (t) => {
  const { hear } = transcriptionBy(toneInChild());
  const seconds = shortOrLong(300, 3600);
  const second = new Uint8Array(2 * 8000);
  let turns = 0;
  let over = false;
  const counting = (async () => {
    for (; !over; turns++) await turn();
  })();
  const chunks = Array.from({ length: seconds }, () => second);
  exactly(t, await hear({ chunks, sampleRate: 8000 }), { text: '', duration: seconds });
  over = true;
  await counting;
  t.ok(turns > seconds / 5, `the loop turned ${turns} times meanwhile`);
});

t.test('the resampling keeps what can be kept, and nothing else', (t) => {
  const sine = (hertz: number, rate: number) =>
    Int16Array.from({ length: rate / 2 }, (_, index) =>
      Math.round(12_000 * Math.sin((2 * Math.PI * hertz * index) / rate)),
    );
  const converted = (samples: Int16Array, rate: number, length: number): Int16Array => {
    const resampling = new Resampling(rate);
    const parts = [];
    for (let at = 0; at < samples.length; at += length)
      parts.push(resampling.push(samples.subarray(at, at + length)));
    return joined(...parts, resampling.finish());
  };
  const worst = (one: Int16Array, other: Int16Array): number =>
    one
      .subarray(200, -200)
      .reduce((most, sample, index) => Math.max(most, Math.abs(sample - other[index + 200]!)), 0);
  for (const rate of [...RATES, 12_345, 47_999].filter((rate) => rate !== RECOGNITION_RATE)) {
    const whole = converted(sine(1000, rate), rate, Infinity);
    t.equal(whole.length, Math.ceil((Math.floor(rate / 2) * RECOGNITION_RATE) / rate), `length from ${rate}`);
    t.ok(worst(whole, sine(1000, RECOGNITION_RATE)) < 60, `1 kHz is where it was, from ${rate}`);
    t.same(converted(sine(1000, rate), rate, 37), whole, 'whatever the cuts are');
    if (rate < 22_000) continue;
    const above = converted(sine(10_500, rate), rate, Infinity).subarray(200, -200);
    t.ok(
      above.every((sample) => Math.abs(sample) < 60),
      `what lies above half the rate is gone, from ${rate}`,
    );
  }
  const loud = converted(new Int16Array(4800).fill(32_767), 48_000, 100);
  t.ok(
    loud.every((sample) => sample >= -3500),
    'full scale does not wrap around',
  );
  t.end();
});

t.test('segments are reported while the rest is still being transcribed', async (t) => {
  const { engine, waiting } = heldTranscriber();
  const { hear } = transcriptionBy(engine);
  const segments: TranscriptSegment[] = [];
  const transcript = hear(raw(silence(2)), {}, neverAborted, (segment) => void segments.push(segment));
  await until('the engine waits', () => waiting.length === 1);
  t.same(segments, [{ text: 'first', start: 0, end: 1 }]);
  waiting[0]!();
  t.same((await transcript).segments, segments);
  t.equal(segments.length, 2);
});

t.test('an interim transcription takes no slot and counts as no usage', async (t) => {
  const { hear, ledger } = transcriptionBy(toneInChild());
  exactly(t, await hear(raw(await tones()), { interim: true }), { text: TEXT });
  t.same(ledger, { entered: 0, left: 0, checked: 1, used: [] });
});

t.test('audio that is likely to be complete takes a slot, and is usage once it was', async (t) => {
  const { hear, count, ledger } = transcriptionBy(toneInChild());
  const { duration } = await hear(raw(await tones()), { uncounted: true });
  t.same(ledger, { entered: 1, left: 1, checked: 0, used: [] });
  count(caller, duration);
  t.same(ledger.used, [Math.round(duration * 1000)]);
});

t.test('an interim transcription is refused while there is other work, and gives way to it', async (t) => {
  const jobs = inProcess(speechJobs({ tts: [], stt: [createToneTranscriber()] }));
  const { hear } = transcriptionBy(sttInChild(jobs, toneSttDescription));
  const samples = await tones();
  const long = raw(joined(silence(30), samples));
  const complete = hear(long);
  await turn();
  await rejectsExactly(t, hear(raw(samples), { interim: true }), { code: 'engine_busy' });
  exactly(t, await complete, { text: TEXT });

  const guess = hear(long, { interim: true });
  await turn();
  const other = rejectsExactly(
    t,
    hear(raw(samples), { interim: true }),
    { code: 'engine_busy' },
    'one guess at a time',
  );
  exactly(t, await guess, { text: TEXT });
  await other;

  const broken = rejectsExactly(t, hear(long, { interim: true }), { code: 'engine_busy' }, 'broken off');
  await turn();
  exactly(t, await hear(raw(samples)), { text: TEXT });
  await broken;
  exactly(t, await hear(raw(samples), { interim: true }), { text: TEXT }, 'and the next one is heard');
});

t.test('an interim transcription whose reader leaves makes room for the next one', async (t) => {
  const { hear } = transcriptionBy(toneInChild());
  const abort = new AbortController();
  const left = rejectsExactly(t, hear(raw(silence(60)), { interim: true }, abort.signal), {
    name: 'AbortError',
  });
  await turn();
  abort.abort();
  await left;
  const samples = await tones();
  await until('the engine is free', () =>
    hear(raw(samples), { interim: true }).then(
      ({ text }) => text === TEXT,
      () => false,
    ),
  );
});

t.test('short audio takes turns in a child, long audio and guesses wait for nobody', async (t) => {
  const waiting: (() => void)[] = [];
  const engine: Transcriber = {
    name: 'held',
    languages: 'any',
    async *transcribe(_audio, { seconds }, signal): AsyncGenerator<TimedSegment> {
      await new Promise<void>((resolve) => waiting.push(resolve));
      signal.throwIfAborted();
      yield { text: `${seconds} s`, start: 0, end: 1 };
    },
  };
  const jobs = inProcess(speechJobs({ tts: [], stt: [engine] }));
  const { hear } = transcriptionBy(sttInChild(jobs, { ...toneSttDescription, name: 'held' }));
  const abort = new AbortController();
  const short = [1, 2].map((seconds) => hear(raw(silence(seconds))));
  await until('two are at work', () => waiting.length === 2);
  const left = hear(raw(silence(3)), {}, abort.signal);
  const last = hear(raw(silence(4)));
  const others = [hear(raw(silence(31))), hear(raw(silence(5)), { interim: true })];
  await until('the others are at work', () => waiting.length === 4);
  abort.abort();
  await rejectsExactly(t, left, { name: 'AbortError' });
  for (const go of waiting.splice(0)) go();
  t.same(
    (await Promise.all([...short, ...others])).map(({ text }) => text),
    ['1 s', '2 s', '31 s', '5 s'],
  );
  await until('the last has its turn', () => waiting.length === 1);
  waiting[0]!();
  exactly(t, await last, { text: '4 s' });
});

t.test('languages in all their spellings', async (t) => {
  const { engine, waiting } = heldTranscriber();
  const { hear } = transcriptionBy(engine);
  for (const language of ['en', 'EN-gb', 'en_US', 'eng', 'und', '']) {
    const transcript = hear(raw(silence(1)), { language });
    await until(`"${language}" is heard`, () => waiting.length === 1);
    waiting.pop()!();
    exactly(t, await transcript, { text: 'first second' });
  }
  for (const language of ['ja', 'jpn', 'klingon language', '😀', 'x'.repeat(1000)])
    await rejectsExactly(t, hear(raw(silence(1)), { language }), { code: 'language_unavailable' });
});
