/** Audio that the gateway passes on unencoded. */
import t from '../../../fixtures/tap.js';
import { bytesOf } from '../../../../contracts/audio.js';
import type { JobRunner } from '../../../../contracts/ports/jobs.js';
import { createEncode } from '../../../../codecs/encode/encoder.js';
import { wavHeader } from '../../../../codecs/wav.js';
import { chunked, collect, tone } from '../../../fixtures/codecs/audio.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';

const never: JobRunner = {
  runJob() {
    throw new Error('a child was asked');
  },
};

t.test("PCM and WAV at the engine's own rate pass through without a child and without a copy", async (t) => {
  const samples = tone(16_000, 0.5);
  const signal = new AbortController().signal;
  const encode = createEncode(never);
  const pcm = await collect(
    encode(chunked(samples, 1600), 16_000, { format: 'pcm', sampleRate: 16_000 }, signal),
  );
  t.same(Buffer.concat(pcm), Buffer.from(bytesOf(samples)));
  t.ok(pcm.every((chunk) => chunk.buffer === samples.buffer));
  const wav = await collect(
    encode(chunked(samples, 1600), 16_000, { format: 'wav', sampleRate: 16_000 }, signal),
  );
  t.same(Buffer.concat(wav), Buffer.concat([wavHeader(16_000), bytesOf(samples)]));
});

t.test(
  'a WAV header leaves only when there is audio, so that a failure before it stays an error',
  async (t) => {
    async function* broken(): AsyncGenerator<Int16Array> {
      yield* [];
      throw new Error('no voice');
    }
    const signal = new AbortController().signal;
    const wav = createEncode(never)(broken(), 16_000, { format: 'wav', sampleRate: 16_000 }, signal);
    await rejectsExactly(t, wav[Symbol.asyncIterator]().next(), { message: 'no voice' });
    const silent = createEncode(never)(
      chunked(new Int16Array(0), 1),
      8000,
      { format: 'wav', sampleRate: 8000 },
      signal,
    );
    t.same(
      Buffer.concat(await collect(silent)),
      Buffer.from(wavHeader(8000)),
      'no audio at all: the header alone',
    );
  },
);

t.test('pass-through stops when the caller has gone, and closes its source', async (t) => {
  let closed = false;
  async function* endless(): AsyncGenerator<Int16Array> {
    try {
      for (;;) yield new Int16Array(160);
    } finally {
      closed = true;
    }
  }
  const gone = new AbortController();
  const reading = createEncode(never)(endless(), 8000, { format: 'pcm', sampleRate: 8000 }, gone.signal);
  await rejectsExactly(
    t,
    async () => {
      for await (const _bytes of reading) gone.abort(new Error('gone'));
    },
    { message: 'gone' },
  );
  t.ok(closed);
});
