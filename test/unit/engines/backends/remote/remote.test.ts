/** Answers of remote services: audio in parts, WAV headers, transcripts of several shapes; their configuration. */
import t from '../../../../fixtures/tap.js';
import { bytesOf, samplesOf } from '../../../../../contracts/audio.js';
import { remoteSamples, wavFile } from '../../../../../engines/backends/remote/audio.js';
import { endpoint } from '../../../../../engines/backends/remote/request.js';
import { pieceOf, remoteTranscriber } from '../../../../../engines/backends/remote/transcription.js';
import type { TimedSegment, TranscribeOptions } from '../../../../../engines/long-audio.js';
import { readConfig } from '../../../../../gateway/config.js';
import { engineRoles, reachEngines } from '../../../../../gateway/wiring/engines.js';
import { joined, silence, streamed } from '../../../../fixtures/engines/listening.js';
import { rejectsExactly, throwsExactly } from '../../../../fixtures/exactly.js';

const samples = Int16Array.from({ length: 1000 }, (_, index) => index * 30 - 15_000);

async function* inParts(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function collected(audio: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const parts: Int16Array[] = [];
  for await (const part of audio) parts.push(part.slice());
  return joined(...parts);
}

/** Samples and rate of a WAV file of ours. */
const samplesIn = (wav: Buffer) => ({ rate: wav.readUInt32LE(24), samples: samplesOf(wav.subarray(44)) });

t.test('samples come whole from parts of any length, raw and from a WAV', async (t) => {
  const wav = wavFile(samples);
  for (const length of [1, 3, 7, 44, 45, 100_000]) {
    t.same(
      await collected(remoteSamples(inParts(wav.subarray(44), length), 'pcm', 16_000)),
      samples,
      `pcm by ${length}`,
    );
    t.same(await collected(remoteSamples(inParts(wav, length), 'wav', 16_000)), samples, `wav by ${length}`);
  }
  const more = Buffer.concat([
    wav.subarray(0, 36),
    Buffer.from('LIST\x03\0\0\0abc\0', 'latin1'),
    wav.subarray(36),
  ]);
  t.same(await collected(remoteSamples(inParts(more, 5), 'wav', 16_000)), samples, 'behind another chunk');
  t.equal((await collected(remoteSamples(inParts(new Uint8Array(0), 1), 'wav', 16_000))).length, 0);
});

t.test('audio that is not what was agreed is refused, not spoken as noise', async (t) => {
  const changed = (at: number, value: number) => Buffer.from(wavFile(samples)).fill(value, at, at + 1);
  const cases: [string, Buffer, number][] = [
    ['another rate', wavFile(samples), 24_000],
    ['stereo', changed(22, 2), 16_000],
    ['8 bits', changed(34, 8), 16_000],
    ['floats', changed(20, 3), 16_000],
    ['not a WAV', Buffer.from('{"error": "no audio today"}'), 16_000],
    ['half a header', wavFile(samples).subarray(0, 30), 16_000],
    [
      'no samples in sight',
      Buffer.concat([wavFile(samples).subarray(0, 12), Buffer.alloc(100_000, 'junk\x01\0\0\0a\0', 'latin1')]),
      16_000,
    ],
  ];
  for (const [name, bytes, rate] of cases) {
    await rejectsExactly(
      t,
      collected(remoteSamples(inParts(bytes, 1000), 'wav', rate)),
      { code: 'provider_failed' },
      name,
    );
  }
});

const piece = (value: unknown) => pieceOf(Buffer.from(JSON.stringify(value)));

t.test('words are those of the service, else those of its segments', async (t) => {
  const words = [
    { word: ' Hello', start: 0.5, end: 1 },
    { word: 'you.', start: 1, end: 1.5 },
    { word: ' ', start: 2, end: 3 },
    null,
    { word: 1 },
  ];
  t.same(piece({ text: ' Hello you.', words }), {
    text: 'Hello you.',
    words: [
      { text: 'Hello', start: 0.5, end: 1 },
      { text: 'you.', start: 1, end: 1.5 },
    ],
  });
  t.same(piece({ text: 'aa bb', segments: [{ text: ' aa bb', start: 1, end: 3 }] }).words, [
    { text: 'aa', start: 1, end: 2 },
    { text: 'bb', start: 2, end: 3 },
  ]);
  t.same(
    piece({ text: 'a\ud83d ', words: [{ word: 'a\ud83d', start: 0, end: 1 }] }),
    { text: 'a\ufffd', words: [{ text: 'a\ufffd', start: 0, end: 1 }] },
    'halves of surrogate pairs are repaired',
  );
  t.same(piece({ text: 'x', words: 'no' }), { text: 'x' });
  t.same(piece({ text: 'x', language: 'german' }), { text: 'x', language: 'de' }, 'a language in English');
  t.same(piece({ text: 'x', language_code: 'ja', language: '' }), { text: 'x', language: 'ja' });
  t.same(piece({ text: 'x', language: 'gibberish' }), { text: 'x' });
  for (const wrong of [null, [], 7, { text: 5 }, {}])
    throwsExactly(t, () => piece(wrong), { code: 'provider_failed' });
  throwsExactly(t, () => pieceOf(Buffer.from('<html>')), { code: 'provider_failed' });
});

t.test('long audio goes in pieces that lose nothing, silence does not go', async (t) => {
  const heard: number[] = [];
  const transcriber = remoteTranscriber('remote', { sttModel: 'heard-1' }, async (wav) => {
    heard.push(samplesIn(wav).samples.length);
    return { text: `piece ${heard.length}`, words: [{ text: 'w', start: 1, end: 2 }] };
  });
  const loud = new Int16Array(16_000 * 400).fill(3000);
  const found = [];
  const signal = new AbortController().signal;
  for await (const segment of transcriber.transcribe(streamed(loud, 16_000), { words: true }, signal))
    found.push(segment);
  t.equal(heard.length, 2);
  t.equal(
    heard.reduce((sum, length) => sum + length, 0),
    loud.length,
  );
  t.equal(found[1]!.words![0]!.start, found[1]!.start + 1, 'times count from the start of the audio');
  for await (const segment of transcriber.transcribe(streamed(silence(5)), {}, signal)) t.fail(segment.text);
  t.equal(heard.length, 2);
});

t.test('audio of a known length goes as it came, at its own rate, if it is short', async (t) => {
  const heard: { readonly rate: number; readonly samples: Int16Array }[] = [];
  const transcriber = remoteTranscriber('remote', { sttModel: 'heard-1' }, async (wav) => {
    heard.push(samplesIn(wav));
    return { text: 'said', language: 'de', words: [{ text: 'said', start: 0.25, end: 0.5 }] };
  });
  const { signal } = new AbortController();
  const loud = (seconds: number, rate: number) =>
    Int16Array.from({ length: seconds * rate }, (_, at) => (at % 200) * 100 - 10_000);
  const segmentsFor = async (samples: Int16Array, sampleRate: number, more: TranscribeOptions) => {
    const found: TimedSegment[] = [];
    for await (const each of transcriber.transcribe(streamed(samples), { sampleRate, ...more }, signal))
      found.push(each);
    return found;
  };
  const [clip, seconds] = [loud(2, 44_100), 2];
  const segment = { text: 'said', start: 0, end: 2, language: 'de' };
  const words = [{ text: 'said', start: 0.25, end: 0.5 }];
  t.strictSame(await segmentsFor(clip, 44_100, { seconds, words: true }), [{ ...segment, words }]);
  t.strictSame(await segmentsFor(clip, 44_100, { seconds }), [segment]);
  for (const each of heard)
    t.ok(each.rate === 44_100 && Buffer.from(bytesOf(clip)).equals(bytesOf(each.samples)), 'all of it');
  t.equal(heard.length, 2);
  t.strictSame(await segmentsFor(silence(1), 8000, { seconds: 2 }), []);
  t.strictSame(await segmentsFor(new Int16Array(0), 8000, { seconds: 0 }), []);
  t.equal(heard.length, 2, 'neither silence nor nothing goes');
  await segmentsFor(clip, 44_100, {});
  t.equal(heard.at(-1)!.rate, 16_000, 'of an unknown length');
  const before = heard.length;
  await segmentsFor(loud(101, 48_000), 48_000, { seconds: 101 });
  t.strictSame(
    heard.slice(before).map(({ rate, samples }) => [rate, Math.round(samples.length / rate)]),
    [[16_000, 101]],
    'more bytes than services take',
  );
});

t.test('remotes are configured by variables, and named where they are missing', async (t) => {
  const runner = () => ({ runJob: () => streamed(silence(0)) });
  const named = {
    TTS_ENGINES: 'openai-compatible,native-compatible',
    STT_ENGINES: 'openai-compatible,native-compatible',
  };
  t.throws(() => engineRoles(readConfig(named)), /"openai-compatible" needs REMOTE_OPENAI_URL/);
  t.throws(
    () => engineRoles(readConfig({ ...named, REMOTE_OPENAI_URL: 'http://a/v1' })),
    /REMOTE_NATIVE_URL/,
  );
  t.throws(() => readConfig({ REMOTE_OPENAI_LANGUAGES: 'en,xx' }), /REMOTE_OPENAI_LANGUAGES must be/);
  t.throws(() => readConfig({ REMOTE_OPENAI_FORMAT: 'mp3' }), /REMOTE_OPENAI_FORMAT must be one of pcm, wav/);
  const config = readConfig({
    ...named,
    REMOTE_OPENAI_URL: 'http://a/v1/',
    REMOTE_OPENAI_VOICES: 'nova, onyx',
    REMOTE_OPENAI_LANGUAGES: 'de',
    REMOTE_NATIVE_URL: 'https://b, https://c/',
  });
  t.same(config.remotes['openai-compatible']?.settings.urls, ['http://a/v1']);
  t.same(config.remotes['native-compatible']?.settings.urls, ['https://b', 'https://c']);
  t.throws(() => readConfig({ REMOTE_NATIVE_URL: 'https://b,c' }), /REMOTE_NATIVE_URL must be an http/);
  t.same(engineRoles(config), new Set(), 'no child runs for them');
  const { speakers } = reachEngines(config, runner);
  t.same(
    speakers.map(({ name, voices }) => [name, voices.map((voice) => voice.name)]),
    [
      ['openai-compatible', ['nova', 'onyx']],
      ['native-compatible', ['default']],
    ],
  );
  t.same(speakers[0]!.capabilities.languages, ['de']);
  t.same(
    speakers.map(({ capabilities }) => capabilities.cloning),
    [false, true],
  );
});

t.test('the query of an address stays behind the path of a request', async (t) => {
  const pathAt = (url: string): string => endpoint(url, '/chat/completions').path;
  t.equal(pathAt('http://model.example/v1'), '/v1/chat/completions');
  t.equal(
    pathAt('http://model.example/v1/?api-version=2024-10-21'),
    '/v1/chat/completions?api-version=2024-10-21',
  );
  t.equal(endpoint('http://model.example?a=b', '/x?c=d').path, '/x?c=d&a=b');
});
