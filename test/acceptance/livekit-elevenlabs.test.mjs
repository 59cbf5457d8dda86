/**
 * LiveKit's unmodified plugin for protocol B: speech over multi-stream-input and over REST, with the settings that
 * the contract allows (docs/contract/protocol-b.md 8), and realtime transcription.
 */
import { initializeLogger, stt } from '@livekit/agents';
import { STT, TTS } from '@livekit/agents-plugin-elevenlabs';
import { AudioFrame } from '@livekit/rtc-node';
import t from '../../dist/test/fixtures/tap.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';
import { wordErrors } from '../../dist/test/fixtures/engines/listening.js';
import { wavHeader } from '../../dist/codecs/wav.js';
import { failureOf, heardBy, spokenBy } from './streams.mjs';

initializeLogger({ pretty: false, level: 'fatal' });

const gateway = await sharedGateway(t, 'speech');

const RATE = 16_000;
const TEXT = 'Thank you very much for your patience. I hope that you have a wonderful day.';
const ONCE = { maxRetry: 0, retryIntervalMs: 100, timeoutMs: 30_000 };

const plugin = (options = {}) =>
  new TTS({
    apiKey: TEST_KEY,
    baseURL: `${gateway.base}/compat/elevenlabs/v1`,
    voiceId: 'default',
    encoding: 'pcm_16000',
    ...options,
  });

/** Pushes text word by word, as a language model does, and gives all that is heard. */
async function speak(tts, text = TEXT) {
  const stream = tts.stream({ connOptions: ONCE });
  for (const word of text.split(/(?<= )/)) stream.pushText(word);
  stream.flush();
  stream.endInput();
  const samples = [];
  const words = [];
  for await (const event of stream) {
    if (typeof event !== 'object') continue;
    samples.push(
      Buffer.from(event.frame.data.buffer, event.frame.data.byteOffset, event.frame.data.byteLength),
    );
    words.push(...(event.timedTranscripts ?? []));
  }
  return { audio: Buffer.concat(samples), words };
}

const hear = (audio) => heardBy(gateway, Buffer.concat([wavHeader(RATE), audio]));

/** Checks the words that the plugin made of the alignment: all of them, in order, within the audio. */
function checkWords(t, { audio, words }, text = TEXT) {
  t.equal(
    words
      .map((word) => word.text)
      .join('')
      .replace(/\s+/g, ' ')
      .trim(),
    text,
  );
  const starts = words.map(({ startTime }) => startTime);
  t.strictSame(
    starts,
    starts.toSorted((a, b) => a - b),
    'never back',
  );
  const seconds = audio.length / 2 / RATE;
  const last = words.at(-1).endTime;
  t.ok(Math.abs(last - seconds) < 0.3, `the last word ends at ${last} of ${seconds} s`);
}

t.test('stream() speaks over multi-stream-input, with timed words', async (t) => {
  const tts = plugin();
  const spoken = await speak(tts);
  const heard = await hear(spoken.audio);
  t.ok(wordErrors(TEXT, heard) <= 1, heard);
  checkWords(t, spoken);
  await tts.close();
});

t.test('turns follow one another on one socket, and run side by side', async (t) => {
  const tts = plugin();
  const first = await speak(tts);
  const [second, third] = await Promise.all([speak(tts), speak(tts, 'How are you today?')]);
  t.equal(second.audio.length, first.audio.length);
  checkWords(t, second);
  checkWords(t, third, 'How are you today?');
  await tts.close();
});

t.test('a chunk_length_schedule instead of auto mode, voice settings, the original alignment', async (t) => {
  const tts = plugin({
    chunkLengthSchedule: [50, 120],
    voiceSettings: { stability: 0.5, similarity_boost: 0.8, speed: 1.1, style: 0, use_speaker_boost: true },
    preferredAlignment: 'original',
    language: 'en-US',
  });
  const spoken = await speak(tts);
  t.ok(wordErrors(TEXT, await hear(spoken.audio)) <= 1);
  checkWords(t, spoken);
  await tts.close();
});

t.test('synthesize() speaks over REST', async (t) => {
  const samples = [];
  for await (const { frame } of plugin().synthesize(TEXT))
    samples.push(Buffer.from(frame.data.buffer, frame.data.byteOffset, frame.data.byteLength));
  t.ok(wordErrors(TEXT, await hear(Buffer.concat(samples))) <= 1);
});

t.test('listVoices() reads the library', async (t) => {
  const voices = await plugin().listVoices();
  t.ok(voices.length > 0 && voices.every(({ id, name }) => id && name));
});

t.test('a refusal in band is a failure of the stream', async (t) => {
  for (const options of [{ apiKey: 'wrong' }, { voiceId: 'Rachel' }, { encoding: 'pcm_22050' }]) {
    const tts = plugin(options);
    const errors = [];
    tts.on('error', ({ error }) => errors.push(error));
    const failure = await failureOf(speak(tts, 'Hello there.').then(({ audio }) => audio.length));
    t.ok(failure instanceof Error || errors.length > 0, JSON.stringify(options));
    await tts.close();
  }
});

for (const [name, options] of [
  ['with its defaults', {}],
  ['with word times and a language', { includeTimestamps: true, languageCode: 'en', language: 'en' }],
])
  t.test(`LiveKit: speech to text as a stream, ${name}`, async (t) => {
    const recogniser = new STT({
      apiKey: TEST_KEY,
      baseURL: `${gateway.base}/compat/elevenlabs/v1`,
      model: 'scribe_v2_realtime',
      sampleRate: RATE,
      ...options,
    });
    const stream = recogniser.stream();
    const events = [];
    const reading = (async () => {
      for await (const event of stream) events.push(event);
    })();
    const audio = await spokenBy(gateway, TEXT);
    const samples = new Int16Array(audio.buffer.slice(audio.byteOffset, audio.byteOffset + audio.length));
    for (let at = 0; at < samples.length; at += 800) {
      const part = samples.slice(at, at + 800);
      stream.pushFrame(new AudioFrame(part, RATE, 1, part.length));
    }
    const of = (type) => events.filter((event) => event.type === type);
    await until('an interim transcript', () => of(stt.SpeechEventType.INTERIM_TRANSCRIPT).length > 0);
    stream.flush();
    const final = await until('the final transcript', () => of(stt.SpeechEventType.FINAL_TRANSCRIPT)[0]);
    const [{ text, words, endTime }] = final.alternatives;
    t.ok(wordErrors(TEXT, text) <= 2, text);
    if (options.includeTimestamps) {
      t.ok(words.length > 10 && endTime > 1);
    }
    stream.close();
    await reading.catch(() => undefined);
    t.equal(of(stt.SpeechEventType.START_OF_SPEECH).length, 1);
  });
