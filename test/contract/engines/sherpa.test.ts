/**
 * An operator's model folder with sherpa-onnx: recognising the kind of a folder, and the conformance suite on real models.
 * Moonshine's own files serve as an operator's recognition folder. No npm package has a voice: its test runs if
 * TEST_VOICE_MODEL names a folder, as in `.ci/run`, which adds a voice by `npm run models`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { createFlite } from '../../../engines/backends/flite/index.js';
import { defaultModelsFolder } from '../../../engines/backends/model-files.js';
import { ModelFolder } from '../../../engines/backends/sherpa/folder.js';
import { createSherpaStt } from '../../../engines/backends/sherpa/transcription.js';
import { onnxMetadata } from '../../../engines/backends/sherpa/onnx-metadata.js';
import { createSherpaSpeech } from '../../../engines/backends/sherpa/synthesis.js';
import { describeSherpaStt } from '../../../engines/backends/sherpa/stt-kinds.js';
import { describeSherpaTts } from '../../../engines/backends/sherpa/tts-kinds.js';
import { speakAll, sttConformance, ttsConformance } from '../../fixtures/engine-conformance.js';
import { heardCase, wordErrors } from '../../fixtures/engines/listening.js';
import { exactly } from '../../fixtures/exactly.js';
import { writeWhisper } from '../../fixtures/engines/small-recognisers.js';
import { spawnGateway, startGateway, TEST_KEY, TONE } from '../../fixtures/gateway.js';
import { temporaryFolder } from '../../fixtures/folders.js';

/** A length-delimited field of a protocol buffer. */
function field(number: number, content: Buffer): Buffer {
  const head: number[] = [number * 8 + 2];
  let length = content.length;
  for (; length > 0x7f; length = Math.floor(length / 128)) head.push((length % 128) + 0x80);
  return Buffer.concat([Buffer.from([...head, length]), content]);
}

/** A model with nothing but a graph's bytes and its metadata. */
const model = (properties: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat([
    Buffer.from([8, 9]),
    field(7, Buffer.alloc(300_000, 0xff)),
    ...Object.entries(properties).map(([key, value]) =>
      field(14, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))])),
    ),
  ]);

function folderOf(files: Readonly<Record<string, Buffer | string>>): ModelFolder {
  const path = mkdtempSync(join(tmpdir(), 'sherpa-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return new ModelFolder(path);
}

t.test('an ONNX file says what it is, whatever lies around that', async (t) => {
  const said = { model_type: 'vits', language: '日本語', note: 'x'.repeat(500) };
  const folder = folderOf({ 'a.onnx': model(said), 'b.onnx': 'no model at all', 'c.onnx': '' });
  const read = (name: string) => Object.fromEntries(onnxMetadata(join(folder.path, name)));
  t.strictSame(read('a.onnx'), said);
  t.strictSame(read('b.onnx'), {});
  t.strictSame(read('c.onnx'), {});
});

t.test('speaking models: kind, rate, voices and languages from the folder alone', async (t) => {
  const tokens = { 'tokens.txt': '_ 0\n' };
  const piper = describeSherpaTts(
    folderOf({
      ...tokens,
      'de_DE-two.onnx': model({ model_type: 'vits', sample_rate: '16000', n_speakers: '2', voice: 'de' }),
      'de_DE-two.onnx.json': JSON.stringify({ speaker_id_map: { berta: 1, anton: 0 } }),
    }),
  );
  t.strictSame(piper.description.capabilities.languages, ['de']);
  t.equal(piper.description.capabilities.sampleRate, 16_000);
  t.strictSame([...piper.speakers], [['anton', 0], ['berta', 1]]); // oxfmt-ignore

  const kokoro = describeSherpaTts(
    folderOf({
      ...tokens,
      'model.onnx': model({
        model_type: 'kokoro',
        sample_rate: '24000',
        n_speakers: '4',
        speaker_names: 'af_bella,bm_lewis,ef_dora,zf_xiaoni',
      }),
      'model.int8.onnx': model({ model_type: 'kokoro', n_speakers: '4', speaker_names: 'af,bm,ef_d,zf_x' }),
      'voices.bin': '',
      'lexicon-us-en.txt': '',
      'lexicon-zh.txt': '',
    }),
  );
  t.match(kokoro.model.kokoro?.model, /int8/, 'the quantised one of two');
  t.match(kokoro.model.kokoro?.lexicon, /us-en\.txt,.*zh\.txt$/);
  const voices = kokoro.description.voices.map(({ name, languages }) => [name, ...languages]);
  t.strictSame(voices, [['af', 'en'], ['bm', 'en'], ['zf_x', 'zh']], 'no voice without its language'); // oxfmt-ignore
  t.equal(kokoro.speakers.get('zf_x'), 3, 'numbered as the model does');

  const speakers = 'af_bella,bf_emma,ef_dora,ff_siwis,hf_alpha,if_sara,jf_alpha,pf_dora';
  const manyFiles = {
    ...tokens,
    'model.onnx': model({ model_type: 'kokoro', n_speakers: '8', speaker_names: speakers }),
    'voices.bin': '',
    'espeak-ng-data': '',
  };
  const many = describeSherpaTts(folderOf(manyFiles));
  t.equal(many.model.kokoro?.lang, 'en-us', 'without a lexicon it is opened with a language');
  t.strictSame(
    many.description.voices.map(({ name, languages }) => [name, ...languages, many.langOf(name)]),
    [
      ['af_bella', 'en', 'en-us'],
      ['bf_emma', 'en', 'en'],
      ['ef_dora', 'es', 'es'],
      ['ff_siwis', 'fr', 'fr'],
      ['hf_alpha', 'hi', 'hi'],
      ['if_sara', 'it', 'it'],
      ['pf_dora', 'pt', 'pt-br'],
    ],
    'eSpeak pronounces all but Japanese',
  );
  const withLexicon = describeSherpaTts(folderOf({ ...manyFiles, 'lexicon-us-en.txt': '' }));
  t.equal(withLexicon.model.kokoro?.lang, undefined);
  t.strictSame(
    ['af_bella', 'bf_emma', 'ef_dora'].map((name) => withLexicon.langOf(name)),
    [undefined, undefined, 'es'],
    'English is left to a lexicon',
  );

  const matcha = {
    ...tokens,
    'model-steps-3.onnx': model({ model_type: 'matcha-tts', language: 'English' }),
  };
  t.throws(() => describeSherpaTts(folderOf(matcha)), /vocoder/);
  const whole = describeSherpaTts(folderOf({ ...matcha, 'vocos-22khz-univ.onnx': '' }));
  exactly(t, whole.model.matcha, { acousticModel: /model-steps-3/, vocoder: /vocos/ });

  const unknown = { ...tokens, 'm.onnx': model({ model_type: 'vits', language: 'Klingon' }) };
  t.throws(() => describeSherpaTts(folderOf(unknown)), /SHERPA_TTS_LANGUAGES/);
  t.equal(describeSherpaTts(folderOf(unknown), ['fr']).description.voices.length, 1);
  t.throws(() => describeSherpaTts(folderOf({ 'm.onnx': model({}) })), /model_type/);
  t.throws(() => new ModelFolder('/nowhere/at/all'), /does not exist/);
});

t.test('recognition models: kind and languages from the folder alone', async (t) => {
  const kindOf = (files: Readonly<Record<string, Buffer | string>>) => {
    const { model, description } = describeSherpaStt(folderOf({ 'tokens.txt': '', ...files }));
    return [Object.keys(model.config)[0], model.streaming, description.capabilities.languages];
  };
  const transducer = (properties: Readonly<Record<string, string>>) => ({
    'encoder-epoch-99-avg-1.onnx': model(properties),
    'decoder-epoch-99-avg-1.onnx': '',
    'joiner-epoch-99-avg-1.onnx': '',
  });
  const zipformer = { model_type: 'zipformer2' };
  t.strictSame(kindOf(transducer(zipformer)), ['transducer', false, ['en']]);
  t.strictSame(kindOf(transducer({ ...zipformer, decode_chunk_len: '32' })), ['transducer', true, ['en']]);
  const whisper = (properties: Readonly<Record<string, string>>) => ({
    'tiny-encoder.int8.onnx': model({ model_type: 'whisper-tiny', ...properties }),
    'tiny-decoder.int8.onnx': '',
    'tiny-tokens.txt': '',
  });
  t.strictSame(kindOf(whisper({ is_multilingual: '1' })), ['whisper', false, 'any']);
  const codes = { is_multilingual: '1', all_language_codes: 'en,no,jw' };
  t.strictSame(kindOf(whisper(codes)), ['whisper', false, ['en', 'no', 'jw', 'nb', 'jv']]);
  const canary = {
    'encoder.int8.onnx': model({ model_type: 'EncDecMultiTaskModel' }),
    'decoder.int8.onnx': '',
  };
  t.strictSame(kindOf(canary), ['canary', false, ['en', 'es', 'de', 'fr']]);
  t.strictSame(kindOf(whisper({ is_multilingual: '0' })), ['whisper', false, ['en']]);
  t.strictSame(kindOf({ 'model.onnx': model({ model_type: 'paraformer' }) }).slice(0, 2), [
    'paraformer',
    false,
  ]);
  t.throws(
    () => kindOf({ 'model.onnx': model({ model_type: 'yolo' }) }),
    /no recognition model that is known/,
  );
});

t.test("moonshine's files as an operator's folder", async (t) => {
  const ear = createSherpaStt(join(defaultModelsFolder, 'moonshine'));
  await sttConformance(t, ear, await heardCase(await createFlite()));
});

/** A Whisper whose transcript names the given language, declared as of these languages. */
function toldFolder(...languages: readonly string[]): string {
  const { path } = folderOf({ '.model.json': JSON.stringify({ languages }) });
  writeWhisper(path);
  return path;
}

t.test(
  'a gateway hears with several folders by language, within their memory, and times words',
  async (t) => {
    const gateway = await startGateway({
      TTS_ENGINES: 'flite',
      STT_ENGINES: 'sherpa',
      SHERPA_STT: [toldFolder('fr', 'ja'), join(defaultModelsFolder, 'moonshine'), toldFolder('de')].join(
        ',',
      ),
      // Moonshine takes more: no other is in memory beside it.
      SHERPA_MEMORY_MB: '1',
    });
    t.teardown(() => gateway.stop());
    const text = 'Thank you for calling, your order was sent this morning.';
    const speech = await fetch(`${gateway.base}/v1/tts`, {
      method: 'POST',
      headers: { ...gateway.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ text, format: 'wav' }),
    });
    const audio = new Blob([await speech.arrayBuffer()]);
    async function hear(fields: Readonly<Record<string, string>>) {
      const form = new FormData();
      form.append('audio', audio, 'speech.wav');
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      const init = { method: 'POST', headers: gateway.authorization, body: form };
      const answer = await fetch(`${gateway.base}/v1/asr`, init);
      const heard = (await answer.json()) as {
        text: string;
        segments: { start: number; end: number }[];
        language_code?: string;
        language?: string;
      };
      return { status: answer.status, ...heard };
    }
    const french = { text: /^bonjour/, language_code: 'fr', language: 'French' };
    exactly(t, await hear({ language: 'fr' }), french, 'the hint reaches the model');
    const timed = await hear({ ignore_timestamps: 'false', language: 'en-GB' });
    exactly(t, timed, { language_code: 'en', language: 'English' });
    t.ok(wordErrors(text, timed.text) <= 1, timed.text);
    t.equal(timed.segments.length, timed.text.split(' ').length);
    t.ok(timed.segments.every(({ start, end }) => end > start));
    exactly(t, await hear({ language: 'de' }), { text: /^guten tag/, language_code: 'de' });
    exactly(t, await hear({ language: 'fr' }), french, 'a model that made room for another is back');
    const found = { text: /^konnichiwa/, language_code: 'ja', language: 'Japanese' };
    exactly(t, await hear({}), found, 'without a hint the language is found, and told');
    t.equal((await hear({ language: 'es' })).status, 400, 'none of them hears Spanish');
  },
);

t.test('a start with a folder that holds no model says so in one line', async (t) => {
  const dataDir = temporaryFolder();
  const empty = folderOf({ 'readme.txt': '' }).path;
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  for (const [env, line] of [
    [{ TTS_ENGINES: 'sherpa', SHERPA_TTS: empty }, /SHERPA_TTS: The model folder .* holds no speaking model/],
    [{ STT_ENGINES: 'sherpa' }, /The engine "sherpa" needs SHERPA_STT/],
  ] as const) {
    const { child, stderr } = spawnGateway({ ...TONE, API_KEY: TEST_KEY, DATA_DIR: dataDir, ...env }); // oxfmt-ignore
    const code = await new Promise((resolve) => child.once('close', resolve));
    t.equal(code, 1);
    t.match((JSON.parse(stderr()) as { msg: string }).msg, line);
    t.notMatch(stderr(), /\n {4}at /, 'no stack');
  }
});

const voiceFolder = process.env['TEST_VOICE_MODEL'];
const skip = voiceFolder ? false : 'TEST_VOICE_MODEL names no model folder';

t.test('a speaking model conforms, and is understood', { skip }, async (t) => {
  const engine = createSherpaSpeech(voiceFolder!);
  const sentence = 'The package was delivered to the front door this morning.';
  await ttsConformance(t, engine, { sentence, varies: true });
  const ear = createSherpaStt(join(defaultModelsFolder, 'moonshine'));
  const voice = engine.voices[0]?.name ?? '';
  const { samples } = await speakAll(engine, { text: sentence, voice, language: 'en', speed: 1 });
  const step = engine.capabilities.sampleRate / RECOGNITION_RATE;
  const resampled = Int16Array.from(
    { length: Math.floor(samples.length / step) },
    (_, at) => samples[Math.floor(at * step)]!,
  );
  const { text } = await ear.transcribe(resampled, {}, new AbortController().signal);
  t.ok(wordErrors(sentence, text) <= 2, text);
});
