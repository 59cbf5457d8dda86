/**
 * Protocol B's text-to-speech over REST through a whole gateway: voices, formats, fields and the times of characters
 * (docs/contract/compatibility.md; docs/contract/protocol-b.md 1, 2).
 */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { at, bytesOf, ENDLESS, hear, linesOf, PLAIN, TEXT, TIMED } from '../../fixtures/protocol-b/speech.js';
import {
  audioOf,
  BASE,
  detailOf,
  isMonotonic,
  KEY,
  ProtocolB,
  timesOf,
  wordsIn,
} from '../../fixtures/protocol-b/rest.js';

const gateway = await sharedGateway(t);
const api = new ProtocolB(gateway);

t.test('matrix "TTS streamed as synthesized": both endpoints send audio before they are done', async (t) => {
  for (const endpoint of PLAIN) {
    const response = await api.speak(
      at('default', endpoint),
      { text: ENDLESS },
      { output_format: 'pcm_16000' },
    );
    t.equal(response.headers.get('content-length'), null);
    const reader = response.body!.getReader();
    t.ok((await reader.read()).value?.length, 'hours of audio were asked for');
    await reader.cancel();
  }
});

t.test('the default format is mp3, and the text is what is heard', async (t) => {
  for (const endpoint of PLAIN) {
    const response = await api.speak(at('default', endpoint), { text: 'Hello, World! 123' });
    t.equal(response.headers.get('content-type'), 'audio/mpeg');
    t.equal(response.headers.get('character-cost'), '17');
    t.equal(await hear(api, await bytesOf(t, response)), 'Hello, World! 123');
  }
});

t.test(
  'every answer names an item of the history, without which clients for .NET and Unity throw',
  async (t) => {
    for (const endpoint of [...PLAIN, ...TIMED]) {
      const response = await api.speak(at('default', endpoint), { text: 'a' });
      t.equal(response.headers.get('history-item-id'), response.headers.get('x-generation-id'), endpoint);
      t.ok((await bytesOf(t, response)).length > 0);
    }
  },
);

t.test('rule 1: empty, absent and `default` voices, with their trailing and double slashes', async (t) => {
  const paths = ['', '/', '/default', '//stream', '//with-timestamps', '//stream/with-timestamps', '/alloy'];
  for (const path of paths) {
    const response = await fetch(`${gateway.base}${BASE}/v1/text-to-speech${path}`, {
      method: 'POST',
      headers: { ...KEY, 'content-type': 'application/json' },
      body: '{"text":"a"}',
    });
    t.ok((await bytesOf(t, response)).length > 0, path);
  }
});

t.test('rules 8, 9: formats, their content types and headers', async (t) => {
  const types: [string, string][] = [
    ['mp3_44100_96', 'audio/mpeg'],
    ['pcm_16000', 'audio/pcm'],
    ['wav_8000', 'audio/wav'],
    ['opus_48000_192', 'audio/ogg'],
  ];
  for (const [name, type] of types) {
    for (const endpoint of PLAIN) {
      const response = await api.speak(at('', endpoint), { text: 'abc' }, { output_format: name });
      t.equal(response.headers.get('content-type'), type);
      t.ok((await bytesOf(t, response)).length > 100, name);
    }
  }
  const size = async (output_format: string, headers = {}) =>
    (await bytesOf(t, await api.speak('', { text: TEXT }, { output_format }, headers))).length;
  const [low, middle, high] = [
    await size('mp3_44100_32'),
    await size('mp3_44100_96'),
    await size('mp3_44100_192'),
  ];
  t.ok(middle / low > 1.8 && high / middle > 1.4, `${low}, ${middle}, ${high} are 64, 128 and 192 kbit/s`);
  t.equal(await size('mp3_44100_64', { 'X-Svc-Mp3-Bitrate': '192' }), high);
  t.equal(await size('pcm_32000'), 2 * (await size('pcm_16000')), 'a rate resamples');
});

t.test('rule 11: WAV has the placeholder header', async (t) => {
  const wav = await bytesOf(t, await api.speak('', { text: 'a' }, { output_format: 'wav_24000' }));
  t.equal(wav.toString('latin1', 0, 4), 'RIFF');
  t.equal(wav.readUInt32LE(4), 4_294_967_076);
  t.equal(wav.readUInt32LE(24), 24_000);
  t.equal(wav.readUInt32LE(40), 4_294_967_040);
});

t.test('rule 2: fields that change nothing are ignored, whatever they hold; null is absent', async (t) => {
  const ignored = {
    seed: 'x',
    previous_text: 1,
    next_text: null,
    previous_request_ids: 'a',
    next_request_ids: [1],
    pronunciation_dictionary_locators: [],
    apply_text_normalization: 'auto',
    apply_language_text_normalization: true,
    use_pvc_as_ivc: 'maybe',
    audio_effects: {},
    optimize_streaming_latency: 9,
    output_format: 'ulaw_8000',
    temperature: 9,
    provider: { options: { svc: { latency: 'normal', temperature: 9 } } },
    unknown: 1,
  };
  const nulls = { model_id: null, language_code: null, voice_settings: null };
  const plain = await bytesOf(t, await api.speak('', { text: TEXT }));
  const query = { enable_logging: 'false', optimize_streaming_latency: '4' };
  const same = await bytesOf(t, await api.speak('', { text: TEXT, ...ignored, ...nulls }, query));
  t.ok(plain.equals(same));
});

t.test('rule 2: speed is speech rate; decision 4: from 0.7 to 1.2', async (t) => {
  const length = async (speed: number) =>
    (
      await bytesOf(
        t,
        await api.speak('', { text: TEXT, voice_settings: { speed } }, { output_format: 'pcm_16000' }),
      )
    ).length;
  const usual = await length(1);
  t.ok((await length(0.7)) > usual * 1.3);
  t.ok((await length(1.2)) < usual * 0.9);
  for (const voice_settings of [{ speed: 0.5 }, { speed: 2 }, { stability: -1 }]) {
    const detail = await detailOf(t, await api.speak('', { text: 'a', voice_settings }));
    exactly(t, detail, { code: 'invalid_request', param: /^voice_settings\./ });
  }
});

t.test(
  'rules 4, 7, decision 2: X-Svc-* headers reach synthesis; latency is low unless it is said',
  async (t) => {
    const clauses = 'One clause is here, another one comes behind it. A sentence follows them. And one more.';
    const length = async (headers: Record<string, string>) =>
      (await bytesOf(t, await api.speak('', { text: clauses }, { output_format: 'pcm_16000' }, headers)))
        .length;
    const low = await length({});
    t.equal(await length({ 'X-Svc-Latency': 'low' }), low);
    t.ok((await length({ 'X-Svc-Latency': 'normal' })) < low, 'cut less often');
    t.ok((await length({ 'X-Svc-Prosody': '{"speed":2}' })) < low * 0.6);
    t.equal(await length({ 'X-Svc-Unknown': 'x' }), low, 'unknown names are ignored');
    const detail = await detailOf(t, await api.speak('', { text: 'a' }, {}, { 'X-Svc-Latency': 'soon' }));
    exactly(t, detail, { code: 'invalid_request', param: 'X-Svc-Latency' });
  },
);

const REFERENCES = { 'X-Svc-References': JSON.stringify([{ audio: 'QUJD', text: 'abc' }]) };

t.test('rule 5: reference audio is 400 where characters are timed', async (t) => {
  for (const endpoint of TIMED) {
    const detail = await detailOf(t, await api.speak(at('', endpoint), { text: 'a' }, {}, REFERENCES));
    exactly(t, detail, { code: 'unsupported_option', param: 'X-Svc-References' });
  }
  for (const endpoint of PLAIN) {
    const detail = await detailOf(t, await api.speak(at('', endpoint), { text: 'a' }, {}, REFERENCES));
    t.equal(detail.code, 'cloning_unavailable', 'elsewhere it is for an engine with cloning');
  }
});

const MOST_OFF_SECONDS = 0.1;
const BYTES_PER_SECOND: Record<string, number> = {
  pcm_16000: 32_000,
  mp3_44100_128: 16_000,
  wav_8000: 16_000,
};

for (const endpoint of TIMED) {
  t.test(`matrix "TTS character timestamps": ${endpoint}`, async (t) => {
    for (const [output_format, rate] of Object.entries(BYTES_PER_SECOND)) {
      const lines = await linesOf(t, api, endpoint, TEXT, { output_format });
      for (const line of lines) {
        t.strictSame(Object.keys(line), ['audio_base64', 'alignment', 'normalized_alignment']);
        t.strictSame(line.alignment, line.normalized_alignment);
      }
      const audio = audioOf(lines);
      const plain = await bytesOf(t, await api.speak('', { text: TEXT }, { output_format }));
      t.ok(audio.equals(plain), 'the audio of the plain endpoint');
      const times = timesOf(lines);
      t.equal(times.characters.join(''), TEXT, 'every character once');
      t.strictSame(times.characters, [...TEXT], 'one entry a character');
      t.ok(isMonotonic(times), 'never back');
      const end = times.character_end_times_seconds.at(-1) ?? 0;
      const off = Math.abs(end - audio.length / rate);
      t.ok(off < MOST_OFF_SECONDS, `${output_format} ends ${off.toFixed(3)} s off`);
      const starts = wordsIn(times).map(({ start }) => start);
      t.strictSame([...new Set(starts)], starts, 'each word has a time of its own');
    }
  });
}

t.test('NDJSON: at most 32 KiB of audio a line, and times from the start of the stream', async (t) => {
  const lines = await linesOf(t, api, 'stream/with-timestamps', TEXT.repeat(10), {
    output_format: 'pcm_44100',
  });
  t.ok(lines.length > 10);
  for (const line of lines) t.ok(audioOf([line]).length <= 32 * 1024);
  const [first, ...later] = lines.filter(({ alignment }) => alignment).map((line) => timesOf([line]));
  t.ok((first?.character_start_times_seconds[0] ?? 1) < 0.5);
  t.ok((later.at(-1)?.character_start_times_seconds[0] ?? 0) > 10, 'absolute');
});

t.test('the timed stream answers with JSON while it is synthesised', async (t) => {
  const path = at('', 'stream/with-timestamps');
  const response = await api.speak(path, { text: ENDLESS }, { output_format: 'pcm_16000' });
  t.match(response.headers.get('content-type'), /^application\/json/);
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  t.match(Buffer.from(value ?? []).toString(), /^\{"audio_base64":"/);
  await reader.cancel();
});

t.test('text of any length is spoken, and aligned to its end', async (t) => {
  const text = `${' '.repeat(40_000)}First.${'\n'.repeat(80_000)}Last — “one”.`;
  const lines = await linesOf(t, api, 'stream/with-timestamps', text, { output_format: 'pcm_8000' });
  t.ok(lines.every((line) => JSON.stringify(line).length < 128 * 1024));
  t.equal(timesOf(lines).characters.join(''), text);
  const [document] = await linesOf(t, api, 'with-timestamps', text, { output_format: 'pcm_8000' });
  t.ok(document && audioOf([document]).equals(audioOf(lines)));
  t.equal(document?.alignment?.characters.join(''), text);
});
