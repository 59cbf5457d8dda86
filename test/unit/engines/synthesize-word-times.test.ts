/** Audio with the times of its words, for complete and for arriving text: both through one pipeline. */
import t from '../../fixtures/tap.js';
import { TextFeed } from '../../../actors/text-feed.js';
import { createEncode } from '../../../codecs/encode/encoder.js';
import { encodeJobs } from '../../../codecs/encode/jobs.js';
import { resolveOutput } from '../../../codecs/formats.js';
import { progressOf } from '../../../codecs/progress.js';
import { type AudioFormat, samplesOf } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { Admission } from '../../../contracts/ports/accounts/identity.js';
import type {
  StreamingSynthesisRequest,
  SpeechOptions,
  TextPart,
  TimedAudio,
} from '../../../contracts/ports/speech/speech.js';
import type { TtsEngine } from '../../../contracts/ports/speech/tts.js';
import { createFlite } from '../../../engines/backends/flite/index.js';
import { createToneSpeech, createToneTranscriber } from '../../../engines/backends/tone/index.js';
import { createRegistry } from '../../../engines/registry.js';
import { createSpeech } from '../../../engines/synthesize.js';
import { engineVoices } from '../../../engines/voices.js';
import { segmentsOf } from '../../../gateway/dialects/native/timestamps.js';
import { inProcess } from '../../fixtures/in-process.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

const neverAborted = new AbortController().signal;
const caller = { workspaceId: 'w', keyId: 'k' };

const admission = () => {
  const state = { inside: 0, used: 0 };
  const port: Admission = {
    reserve: () => Promise.resolve(() => undefined),
    enter: () => {
      state.inside += 1;
      return Promise.resolve(() => void (state.inside -= 1));
    },
    check: () => Promise.resolve(),
    use: (_workspace, _kind, amount) => void (state.used += amount),
  };
  return { state, port };
};

const speechOf = (engine: TtsEngine = createToneSpeech()) => {
  const { state, port } = admission();
  const registry = createRegistry({ tts: [engine], stt: [] });
  const encode = createEncode(inProcess(encodeJobs));
  return {
    state,
    speech: createSpeech({ registry, voices: engineVoices([engine]), admission: port, encode }),
  };
};

const options = (
  format: AudioFormat,
  more: Partial<SpeechOptions> & { rate?: number } = {},
): SpeechOptions => ({
  model: 's1',
  voice: '',
  references: [],
  output: resolveOutput({ format, sampleRate: more.rate }),
  latency: 'balanced',
  speed: 1,
  volume: 0,
  normalizeLoudness: true,
  chunkLength: 300,
  sampling: {},
  ...more,
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const TEXT = 'One small step for a man. One giant leap, for mankind! Third.';

type Checks = Pick<typeof t, 'ok' | 'strictSame'>;

/** Checks for every stream with times. */
function checkPieces(t: Checks, chunks: readonly TimedAudio[], text: string): void {
  const last = new Map(chunks.map(({ piece }) => [piece.index, piece]));
  const pieces = [...last.values()];
  t.strictSame(
    pieces.map(({ index }) => index),
    pieces.map((_, index) => index),
    'every piece, in order',
  );
  t.ok(chunks.every(({ piece }, at) => at === 0 || piece.index >= (chunks[at - 1]?.piece.index ?? 0)));
  t.ok(
    pieces.every(({ complete }) => complete),
    'each complete at last',
  );
  t.ok(pieces.every(({ text: piece, at }) => text.startsWith(piece, at)));
  let end = 0;
  for (const { offset, duration, words } of pieces) {
    t.ok(Math.abs(offset - end) < 1e-9, 'pieces follow each other without a gap');
    end = offset + duration;
    t.ok(
      words?.every((word) => word.start >= 0 && word.end <= duration),
      'words lie within their piece',
    );
  }
}

for (const format of ['pcm', 'wav', 'mp3', 'opus'] as const) {
  t.test(
    `timed ${format} is the audio of the untimed request, and every piece is told to its end`,
    async (t) => {
      const { speech, state } = speechOf();
      const request = { ...options(format), text: TEXT };
      const plain = Buffer.concat(await all(speech.synthesize(request, caller, neverAborted)));
      const chunks = await all(speech.synthesizeTimed(request, caller, neverAborted));
      const audio = Buffer.concat(chunks.map((chunk) => chunk.audio));
      // Serial numbers of Ogg streams are random.
      t.ok(format === 'opus' ? audio.length === plain.length : audio.equals(plain));
      checkPieces(t, chunks, TEXT);
      t.equal(state.inside, 0);
      t.equal(state.used, 2 * TEXT.length);
      const progress = progressOf(request.output);
      let second = 0;
      for (const { audio, piece } of chunks.filter(({ audio }) => audio.length > 0)) {
        t.ok(second >= piece.offset - 0.2, 'a chunk is told with the piece that it begins in');
        second = progress(audio);
      }
      const total = chunks.at(-1)?.piece;
      t.ok(
        total && Math.abs(second - total.offset - total.duration) < 0.2,
        `${second} s are the whole audio`,
      );
    },
  );
}

t.test(
  'times hold through loudness and resampling: the tones are heard where they are said to be',
  async (t) => {
    for (const [rate, volume] of [
      [16_000, 0],
      [16_000, -6],
      [32_000, 3],
    ] as const) {
      const { speech } = speechOf();
      const request = { ...options('pcm', { rate, volume, latency: 'low' }), text: TEXT };
      const chunks = await all(speech.synthesizeTimed(request, caller, neverAborted));
      const bytes = Buffer.concat(chunks.map(({ audio }) => audio));
      const samples = samplesOf(bytes).filter((_, index) => index % (rate / 16_000) === 0);
      const heard = await all(
        createToneTranscriber().transcribe(once(samples), { words: true }, neverAborted),
      );
      const words = heard.flatMap((segment) => segment.words ?? []);
      const last = new Map(chunks.map(({ piece }) => [piece.index, piece]));
      const told = [...last.values()].flatMap(({ offset, words: pieceWords }) =>
        (pieceWords ?? []).map(({ text, start, end }) => ({
          text,
          start: start + offset,
          end: end + offset,
        })),
      );
      t.strictSame(
        told.map(({ text }) => text),
        TEXT.split(' '),
      );
      t.strictSame(
        words.map(({ text }) => text),
        told.map(({ text }) => text),
      );
      t.ok(
        words.every(({ start }, at) => Math.abs(start - (told[at]?.start ?? -1)) < 0.015),
        `${rate} Hz, ${volume} dB`,
      );
    }
  },
);

t.test('at twice the speed each word takes half as long, and its times say so', async (t) => {
  const { speech } = speechOf(await createFlite());
  const wordsAt = async (speed: number) => {
    const request = {
      ...options('mp3', { speed }),
      text: 'The quick brown fox jumps over the lazy dog. It was not amused.',
    };
    const chunks = await all(speech.synthesizeTimed(request, caller, neverAborted));
    checkPieces(t, chunks, request.text);
    const last = new Map(chunks.map(({ piece }) => [piece.index, piece]));
    return [...last.values()].flatMap(({ offset, words }) =>
      (words ?? []).map(({ text, end }) => ({ text, end: end + offset })),
    );
  };
  const [slow, fast] = [await wordsAt(1), await wordsAt(2)];
  t.equal(slow.length, 13);
  t.strictSame(
    fast.map(({ text }) => text),
    slow.map(({ text }) => text),
  );
  t.ok(
    fast.every(({ end }, at) => Math.abs(end - (slow[at]?.end ?? 0) / 2) < 0.1),
    JSON.stringify([slow, fast]),
  );
});

t.test('an engine without times gives audio without words', async (t) => {
  const tone = createToneSpeech();
  const asked: unknown[] = [];
  const { speech } = speechOf({
    ...tone,
    capabilities: { ...tone.capabilities, timing: 'none' },
    synthesize(request, signal) {
      asked.push(request.timing);
      return tone.synthesize(request, signal);
    },
  });
  const chunks = await all(speech.synthesizeTimed({ ...options('pcm'), text: 'a b' }, caller, neverAborted));
  t.ok(chunks.length > 0 && chunks.every(({ piece }) => piece.words === undefined));
  t.strictSame(asked, [false]);
});

t.test('an empty text gives no audio but one empty piece with a WAV header', async (t) => {
  const { speech } = speechOf();
  t.strictSame(await all(speech.synthesizeTimed({ ...options('pcm'), text: '' }, caller, neverAborted)), []);
  const [header, ...more] = await all(
    speech.synthesizeTimed({ ...options('wav'), text: '' }, caller, neverAborted),
  );
  exactly(t, header, { piece: { index: 0, text: '', duration: 0, complete: true } });
  t.equal(header?.audio.length, 44);
  t.strictSame(more, []);
});

const textOf = (...texts: string[]): TextPart[] => texts.map((text) => ({ kind: 'text', text }));

async function* once<T>(...items: T[]): AsyncGenerator<T> {
  yield* items;
}

t.test('text that arrives gives the audio of the whole text', async (t) => {
  const { speech, state } = speechOf();
  const whole = await all(speech.synthesize({ ...options('mp3'), text: TEXT }, caller, neverAborted));
  const request: StreamingSynthesisRequest = { ...options('mp3'), text: once(...textOf(...TEXT)) };
  const arriving = await all(speech.synthesize(request, caller, neverAborted));
  t.ok(Buffer.concat(arriving).equals(Buffer.concat(whole)));
  t.strictSame(state, { inside: 0, used: 2 * TEXT.length });
  t.strictSame(
    await all(speech.synthesize({ ...request, text: once() }, caller, neverAborted)),
    [],
    'no text, no audio',
  );
});

t.test('a flush is heard before the text ends, and an abort does not wait for text', async (t) => {
  const { speech, state } = speechOf();
  const feed = new TextFeed(1000);
  const abort = new AbortController();
  const audio = speech.synthesize({ ...options('pcm', { rate: 16_000 }), text: feed }, caller, abort.signal);
  const iterator = audio[Symbol.asyncIterator]();
  const first = iterator.next();
  await until('the slot is taken', () => state.inside === 1);
  feed.add('Hello wor');
  feed.flush();
  t.notOk((await first).done);
  const rest = (async () => {
    for (let step = await iterator.next(); !step.done;) step = await iterator.next();
  })();
  abort.abort(new Error('enough'));
  await rejectsExactly(t, rest, { message: 'enough' });
  t.equal(state.inside, 0);
});

t.test('what no text could mend is refused before any text comes', async (t) => {
  const { speech, state } = speechOf();
  const never = new TextFeed(10);
  const unknown = { ...options('pcm', { voice: 'f'.repeat(32) }), text: never };
  await rejectsExactly(t, all(speech.synthesize(unknown, caller, neverAborted)), { code: 'voice_not_found' });
  const reference = { audio: new Uint8Array(1), text: '' };
  const cloned = { ...options('pcm', { references: [reference] }), text: never };
  await rejectsExactly(t, all(speech.synthesize(cloned, caller, neverAborted)), {
    code: 'cloning_unavailable',
  });
  t.equal(state.inside, 0);
});

t.test('the first piece decides the language of text that arrives', async (t) => {
  const tone = createToneSpeech();
  const { speech } = speechOf({
    ...tone,
    capabilities: { ...tone.capabilities, anyScript: false },
    voices: [{ name: 'tone', title: 'Tone', languages: ['ja'] }],
  });
  const request = (text: string) => ({ ...options('pcm'), text: once(...textOf(text)) });
  t.ok((await all(speech.synthesize(request('こんにちは'), caller, neverAborted))).length > 0);
  await t.rejects(all(speech.synthesize(request('hello'), caller, neverAborted)), ServiceError);
});

t.test('segments are words without punctuation, and characters in Chinese and Japanese', async (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end });
  const found = segmentsOf([
    word('“Hello,', 0, 0.5),
    word('—', 0.5, 0.6),
    word("don't!", 0.6, 1),
    word('你好。', 1, 1.5),
  ]);
  t.strictSame(found, [
    word('Hello', 0, 0.5),
    word("don't", 0.6, 1),
    word('你', 1, 1.25),
    word('好', 1.25, 1.5),
  ]);
});

/** A page of Ogg with one packet; `samples`: the position that it ends at. */
function oggPage(samples: number, packet: Buffer): Buffer {
  const sizes = [...Array.from({ length: Math.floor(packet.length / 255) }, () => 255), packet.length % 255];
  const header = Buffer.alloc(27);
  header.write('OggS', 'latin1');
  header.writeBigInt64LE(BigInt(samples), 6);
  header[26] = sizes.length;
  return Buffer.concat([header, Buffer.from(sizes), packet]);
}

t.test(
  'the seconds of Opus are those of its pages, whatever bytes its audio has, however they are cut',
  async (t) => {
    const audio = Buffer.concat([Buffer.alloc(100), Buffer.from('OggS'), Buffer.alloc(500, 0x7f)]);
    const stream = Buffer.concat([
      oggPage(0, Buffer.from('OpusHead')),
      oggPage(4800, audio),
      oggPage(9600, audio),
    ]);
    for (const size of [1, 7, 28, 400, stream.length]) {
      const progress = progressOf({ format: 'opus', sampleRate: 48_000 });
      const seconds: number[] = [];
      for (let at = 0; at < stream.length; at += size) seconds.push(progress(stream.subarray(at, at + size)));
      t.strictSame(
        [...new Set(seconds)].slice(-2),
        seconds.length === 1 ? [0.2] : [0.1, 0.2],
        `${size} at a time`,
      );
    }
  },
);
