/**
 * Word times of real recognition (docs/architecture.md): clips whose true times their engine reports, in voices other
 * than the one with which alignment reads; on its thread, and through the API. In a child: engines-children.
 */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { TimedWord } from '../../../contracts/ports/speech/tts.js';
import { createAligner } from '../../../engines/alignment/aligner.js';
import { createFlite } from '../../../engines/backends/flite/index.js';
import { speakAll } from '../../fixtures/engine-conformance.js';
import { joined, silence } from '../../fixtures/engines/listening.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';
import { isClose } from '../../fixtures/engines/word-times.js';

const fixture = new URL('test/fixtures/engines/sentences.json', CHECKOUT);
const sentences = JSON.parse(readFileSync(fixture, 'utf8')) as string[];
const flite = await createFlite();
const aligner = createAligner();
t.teardown(() => aligner.stop());
const neverAborted = new AbortController().signal;
/** The voice that takes a tenth of the work of the others. */
const QUICK = 'kal16';
const ENOUGH = 0.9;

const say = (text: string, voice: string) =>
  speakAll(flite, { text, voice, language: 'en', speed: 1, timing: true });

for (const voice of shortOrLong([QUICK], [QUICK, 'slt', 'rms'])) {
  t.test(`nine of ten words of ${voice} are within 150 ms of their time`, async (t) => {
    let close = 0;
    let all = 0;
    for (const sentence of sentences.slice(0, shortOrLong(5, sentences.length))) {
      const { samples, words } = await say(sentence, voice);
      const found = await aligner.align(joined(silence(0.3), samples, silence(0.3)), sentence, neverAborted);
      t.same(
        found.map(({ text }) => text),
        sentence.split(' '),
      );
      close += words.filter(({ text, start, end }, index) =>
        isClose(found[index]!, { text, start: start + 0.3, end: end + 0.3 }),
      ).length;
      all += words.length;
    }
    t.ok(close >= ENOUGH * all, `${close} of ${all}`);
  });
}

t.test('pieces of the greatest length, without words, and of foreign words are timed too', async (t) => {
  const text = sentences.slice(0, 7).join(' ');
  const spoken = await say(text, QUICK);
  const piece = spoken.samples.subarray(0, 15 * RECOGNITION_RATE);
  t.equal(piece.length, 15 * RECOGNITION_RATE);
  const words = await aligner.align(piece, text, neverAborted);
  t.equal(words.length, text.split(' ').length);
  t.ok(words.every(({ start, end }) => start >= 0 && end >= start && end <= 15));
  t.same(await aligner.align(piece, '', neverAborted), []);
  t.same(await aligner.align(new Int16Array(0), 'Hello', neverAborted), [
    { text: 'Hello', start: 0, end: 0 },
  ]);
  const foreign = await aligner.align(silence(1), '你好', neverAborted);
  t.same(
    foreign.map(({ text }) => text),
    ['你', '好'],
  );
});

t.test('a piece that is given up leaves the others', async (t) => {
  const { samples } = await say(sentences[0]!, QUICK);
  const abort = new AbortController();
  const given = aligner.align(samples, sentences[0]!, abort.signal);
  const kept = aligner.align(samples, sentences[0]!, neverAborted);
  abort.abort();
  await rejectsExactly(t, given, { name: 'AbortError' });
  await rejectsExactly(t, aligner.align(samples, 'x', AbortSignal.abort()), { name: 'AbortError' });
  t.equal((await kept).length, sentences[0]!.split(' ').length);
});

t.test('a thread that ends fails its pieces, and the next piece has another', async (t) => {
  const { samples } = await say(sentences[1]!, QUICK);
  const running = aligner.align(samples, sentences[1]!, neverAborted);
  const failed = rejectsExactly(t, running, { code: 'engine_failed' });
  await aligner.stop();
  await failed;
  t.equal(
    (await aligner.align(samples, sentences[1]!, neverAborted)).length,
    sentences[1]!.split(' ').length,
  );
});

t.test('POST /v1/asr answers one segment a word when timestamps are not ignored', async (t) => {
  const gateway = await sharedGateway(t);
  const post = (path: string, body: FormData | string, headers = {}) =>
    fetch(gateway.base + path, { method: 'POST', headers: { ...gateway.authorization, ...headers }, body });
  const text = 'Tones carry text, exactly.';
  const json = { 'content-type': 'application/json' };
  const audio = await post('/v1/tts', JSON.stringify({ text, format: 'wav' }), json);
  const form = new FormData();
  form.append('audio', await audio.blob());
  form.append('ignore_timestamps', 'false');
  const { segments, duration } = (await (await post('/v1/asr', form)).json()) as {
    segments: TimedWord[];
    duration: number;
  };
  t.same(
    segments.map(({ text }) => text),
    text.split(' '),
  );
  let last = 0;
  for (const { start, end } of segments) {
    t.ok(start >= last && end > start && end <= duration, `${start} to ${end}`);
    last = end;
  }
});
