/** Time-stretching in a real `encode` child, and through a whole gateway with an engine that has only one speed. */
import t from '../../fixtures/tap.js';
import { createEncode } from '../../../codecs/encode/encoder.js';
import { FORMATS, resolveOutput } from '../../../codecs/formats.js';
import { progressOf } from '../../../codecs/progress.js';
import { type AudioFormat, samplesOf } from '../../../contracts/audio.js';
import { chunked, collect, frequencyOf, tone } from '../../fixtures/codecs/audio.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { productChild } from '../../fixtures/processes/product-child.js';

const RATE = 16_000;
const { pool } = await productChild(t, 'encode', 'encode');
const encode = createEncode(pool);
const signal = new AbortController().signal;

for (const speed of [0.25, 0.5, 2, 4]) {
  t.test(`every format is made at speed ${speed}, while speech still arrives`, async (t) => {
    for (const format of Object.keys(FORMATS) as AudioFormat[]) {
      const output = resolveOutput({ format });
      const progress = progressOf(output);
      let heard = (): void => undefined;
      const firstAudio = new Promise<void>((resolve) => (heard = resolve));
      async function* speech(): AsyncGenerator<Int16Array> {
        yield* chunked(tone(RATE, 2), 1600);
        await firstAudio;
        yield* chunked(tone(RATE, 2), 1600);
      }
      let seconds = 0;
      for await (const bytes of encode(speech(), RATE, output, signal, { speed })) {
        seconds = progress(bytes);
        if (seconds > 0) heard();
      }
      t.ok(Math.abs(seconds - 4 / speed) < 0.15, `${format}: ${seconds} s`);
    }
  });
}

t.test('the engine’s own rate is no short cut around the speed', async (t) => {
  const output = resolveOutput({ format: 'pcm', sampleRate: RATE });
  const bytes = await collect(encode(chunked(tone(RATE, 2), 1600), RATE, output, signal, { speed: 2 }));
  const samples = samplesOf(Buffer.concat(bytes));
  t.equal(samples.length, RATE);
  t.ok(Math.abs(frequencyOf(samples, RATE) - 440) < 5, 'the pitch stays');
});

t.test('an abort in the middle frees the child for the next', async (t) => {
  const output = resolveOutput({ format: 'mp3' });
  const gone = new AbortController();
  async function* stalled(): AsyncGenerator<Int16Array> {
    yield tone(RATE, 1);
    await new Promise<never>(() => undefined);
  }
  const reading = collect(encode(stalled(), RATE, output, gone.signal, { speed: 0.5 }));
  gone.abort(new Error('gone'));
  await rejectsExactly(t, reading, { message: 'gone' });
  t.ok(
    (await collect(encode(chunked(tone(RATE, 1), 1600), RATE, output, signal, { speed: 0.5 }))).length > 0,
  );
});

t.test('through a gateway whose engine has one speed, the audio is as long as the speed says', async (t) => {
  const gateway = await sharedGateway(t);
  const lengthOf = async (speed: number, sample_rate: number): Promise<number> => {
    const response = await fetch(`${gateway.base}/v1/tts`, {
      method: 'POST',
      headers: { ...gateway.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'One small step.', format: 'pcm', sample_rate, prosody: { speed } }),
    });
    t.equal(response.status, 200);
    return (await response.arrayBuffer()).byteLength;
  };
  for (const rate of [16_000, 44_100]) {
    const plain = await lengthOf(1, rate);
    for (const speed of [0.5, 2]) {
      const ratio = ((await lengthOf(speed, rate)) * speed) / plain;
      t.ok(Math.abs(ratio - 1) < 0.01, `speed ${speed} at ${rate} Hz: off by ${ratio}`);
    }
  }
});
