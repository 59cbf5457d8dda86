/** The tone engines, the span cutter and long audio, which need no model. */
import t from '../../../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../../../contracts/audio.js';
import { LANGUAGES } from '../../../../../contracts/speech/languages.js';
import type { SpeechSpan, SttEngine } from '../../../../../contracts/ports/speech/stt.js';
import {
  createToneStt,
  createToneSpeech,
  createToneTranscriber,
  toneActivity,
} from '../../../../../engines/backends/tone/index.js';
import { SpanCutter } from '../../../../../engines/backends/span-cutter.js';
import {
  HOSTILE_TEXTS,
  speakAll,
  sttConformance,
  ttsConformance,
} from '../../../../fixtures/engine-conformance.js';
import { transcribeStream } from '../../../../../engines/long-audio.js';
import { joined, segmentsOf, silence, streamed } from '../../../../fixtures/engines/listening.js';
import { rejectsExactly } from '../../../../fixtures/exactly.js';

const SENTENCE = 'Hello, World: 3 Ünïcödé words — 日本語 👍!';
const speech = createToneSpeech();
const transcriber = createToneTranscriber();
const neverAborted = new AbortController().signal;

const say = async (text: string): Promise<Int16Array> =>
  (await speakAll(speech, { text, voice: 'tone', language: 'en', speed: 1 })).samples;
const text = async (samples: Int16Array): Promise<string> =>
  (await segmentsOf(transcriber, samples)).map((segment) => segment.text).join('|');

/** Resamples by linear interpolation, which is worse than the codecs' way. */
function resampled(samples: Int16Array, from: number, to: number): Int16Array {
  return Int16Array.from({ length: Math.floor((samples.length * to) / from) }, (_, index) => {
    const position = (index * from) / to;
    const left = Math.floor(position);
    const share = position - left;
    return Math.round((1 - share) * samples[left]! + share * (samples[left + 1] ?? 0));
  });
}

t.test('the tone engines conform', async (t) => {
  await ttsConformance(t, speech, { sentence: SENTENCE, deterministic: true });
  const [samples, other] = [await say(SENTENCE), await say('Something else')];
  await sttConformance(t, createToneStt(), { samples, other, heard: (heard) => heard === SENTENCE });
  t.same(speech.capabilities.languages, LANGUAGES);
});

t.test('tones carry a text exactly', async (t) => {
  const survivesUtf8 = (text: string) => Buffer.from(text).toString() === text;
  const speakable = HOSTILE_TEXTS.filter((text) => /[\p{L}\p{N}]/u.test(text) && survivesUtf8(text));
  t.ok(speakable.length > 10);
  for (const wanted of [SENTENCE, 'a', ' kept  spaces ', ...speakable]) {
    t.equal(await text(await say(wanted)), wanted);
  }
});

t.test('tones survive other rates, other levels and noise', async (t) => {
  const samples = await say(SENTENCE);
  for (const rate of [8000, 11_025, 22_050, 24_000, 44_100, 48_000]) {
    const there = resampled(samples, RECOGNITION_RATE, rate);
    t.equal(await text(resampled(there, rate, RECOGNITION_RATE)), SENTENCE, `by way of ${rate} Hz`);
  }
  t.equal(await text(samples.map((sample) => sample / 8)), SENTENCE, 'quiet');
  t.equal(
    await text(samples.map((sample, index) => sample + ((index * 7919) % 800) - 400)),
    SENTENCE,
    'noisy',
  );
  t.equal(await text(joined(silence(0.777), samples)), SENTENCE, 'late');
});

t.test('an incomplete message is silence', async (t) => {
  const samples = await say(SENTENCE);
  t.equal(await text(samples.subarray(0, samples.length - 6000)), '', 'cut short');
  t.equal(await text(samples.subarray(3000)), '', 'begun late');
  const broken = samples.slice();
  broken.copyWithin(6400, 9600, 9920);
  t.equal(await text(broken), '', 'one tone changed');
  t.equal(
    await text(Int16Array.from({ length: 32_000 }, (_, index) => 9000 * Math.sin(index / 5))),
    '',
    'a hum',
  );
});

t.test('messages one after the other are separated, with their times', async (t) => {
  const [one, two] = [await say('First one.'), await say('Second')];
  const segments = await segmentsOf(transcriber, joined(one, two, silence(1), one));
  t.same(
    segments.map((segment) => segment.text),
    ['First one.', 'Second', 'First one.'],
  );
  const starts = [0, one.length, one.length + two.length + RECOGNITION_RATE];
  segments.forEach(({ start, end }, index) => {
    const wanted = starts[index]! / RECOGNITION_RATE;
    t.ok(Math.abs(start - wanted) < 0.3, `${start} is near ${wanted}`);
    t.ok(end > start, 'and it ends later');
  });
});

t.test('words of tones are timed exactly', async (t) => {
  const request = { text: 'ab cde f', voice: 'tone', language: 'en', speed: 1, timing: true } as const;
  const { samples, words } = await speakAll(speech, request);
  const heard = await createToneStt().transcribe(samples, {}, neverAborted);
  t.same(words, heard.words);
  t.same(
    words.map(({ start }) => Math.round(start * 1000)),
    [140, 260, 420],
  );
});

t.test('spans do not overlap, lose nothing and are never too long', async (t) => {
  const maxSpan = 10_000;
  const cutter = new SpanCutter({ maxSpan, lag: { begin: 1000, end: 2000 } });
  const frame = (from: number) => Int16Array.from({ length: 500 }, (_, index) => (from + index) % 30_000);
  const speechAt = (at: number) =>
    (at > 10_000 && at < 60_000) || (at > 80_000 && at < 82_000) || at > 99_000;
  const spans: SpeechSpan[] = [];
  for (let at = 0; at < 100_000; at += 500) {
    const { span } = cutter.push(frame(at), speechAt(at));
    if (span) spans.push(span);
  }
  spans.push(cutter.end()!);
  let last = 0;
  for (const { start, samples } of spans) {
    t.ok(start >= last && samples.length <= maxSpan, `${start} + ${samples.length}`);
    t.ok(
      samples.every((sample, index) => sample === (start + index) % 30_000),
      'its own samples',
    );
    last = start + samples.length;
  }
  const covered = (at: number) =>
    spans.some(({ start, samples }) => at >= start && at < start + samples.length);
  for (const at of [10_500, 30_000, 59_000, 81_000, 99_999]) t.ok(covered(at), `${at} is in a span`);
  t.notOk(covered(70_000), 'silence is not');
});

t.test('long audio is pulled as it is needed, and released when its reader leaves', async (t) => {
  const message = await say('again');
  let pulled = 0;
  let left = false;
  async function* endless(): AsyncGenerator<Int16Array> {
    try {
      for (;;) {
        pulled += 1;
        yield message;
      }
    } finally {
      left = true;
    }
  }
  for await (const segment of transcriber.transcribe(endless(), {}, neverAborted)) {
    t.equal(segment.text, 'again');
    break;
  }
  t.ok(pulled < 4, `${pulled} chunks were read`);
  t.ok(left, 'the audio was left');
});

t.test('the next piece is looked for while the engine works on the one before', async (t) => {
  const [one, two] = [await say('one'), await say('two')];
  let lookOn: () => void;
  const looking = new Promise<void>((resolve) => (lookOn = resolve));
  async function* audio(): AsyncGenerator<Int16Array> {
    yield one;
    lookOn();
    yield two;
  }
  const tone = createToneStt();
  const waiting: SttEngine = {
    ...tone,
    async transcribe(...piece) {
      await looking;
      return tone.transcribe(...piece);
    },
  };
  const parts = { engine: waiting, voiceActivity: toneActivity };
  const heard: string[] = [];
  for await (const segment of transcribeStream(audio(), parts, neverAborted)) heard.push(segment.text);
  t.same(heard, ['one', 'two']);
});

t.test('audio that fails after a piece fails once that piece was reported', async (t) => {
  async function* broken(): AsyncGenerator<Int16Array> {
    yield* streamed(joined(await say('one'), silence(0.5)));
    throw new Error('cut off');
  }
  const segments = transcriber.transcribe(broken(), {}, neverAborted)[Symbol.asyncIterator]();
  t.equal((await segments.next()).value.text, 'one');
  await rejectsExactly(t, segments.next(), { message: 'cut off' });
});

t.test('an abort between pieces ends long audio; a failure of the engine goes through', async (t) => {
  const abort = new AbortController();
  const audio = streamed(joined(await say('one'), await say('two')));
  const segments = transcriber.transcribe(audio, {}, abort.signal)[Symbol.asyncIterator]();
  t.equal((await segments.next()).value.text, 'one');
  abort.abort();
  await rejectsExactly(t, segments.next(), { name: 'AbortError' });

  const failing: SttEngine = {
    ...createToneStt(),
    transcribe: () => Promise.reject(new Error('broken')),
  };
  const parts = { engine: failing, voiceActivity: toneActivity };
  const run = transcribeStream(streamed(await say('one')), parts, neverAborted);
  await rejectsExactly(t, run.next(), { message: 'broken' });
});
