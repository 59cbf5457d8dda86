/** Piper's voices as published: the files that are made of a pair for the runtime; the pair itself stays unchanged. */
import fs from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import { ESPEAK_DATA_PACKAGE } from '../../../../../engines/backends/espeak/description.js';
import { onnxMetadata } from '../../../../../engines/backends/sherpa/onnx-metadata.js';
import { openSpeakingFolder } from '../../../../../engines/backends/sherpa/piper.js';
import { describeSherpaTts } from '../../../../../engines/backends/sherpa/tts-kinds.js';
import { notInstalled } from '../../../../../gateway/config/installed.js';
import { folderForCopies } from '../../../../../gateway/config/model-folders.js';
import { exactly } from '../../../../fixtures/exactly.js';

/** An ONNX file that contains only its version, 7. */
const NAKED = Buffer.from([8, 7]);
const VOICE = {
  audio: { sample_rate: 16_000, quality: 'x_low' },
  espeak: { voice: 'de' },
  num_speakers: 2,
  speaker_id_map: { berta: 1, anton: 0 },
  phoneme_type: 'espeak',
  phoneme_id_map: { _: [0], ' ': [3], ɪ: [74] },
};

/** A folder with pairs, with espeak's data beside them, and a MODELS_DIR. */
function laidOut(t: Test, names: readonly string[], voice: object = VOICE) {
  const root = t.testdir({ voices: { 'espeak-ng-data': {} }, models: {} });
  const voices = path.join(root, 'voices');
  for (const name of names) {
    fs.writeFileSync(path.join(voices, name), NAKED);
    fs.writeFileSync(path.join(voices, `${name}.json`), JSON.stringify(voice));
  }
  return { voices, models: path.join(root, 'models') };
}

const prepared = (models: string): string[] => fs.readdirSync(path.join(models, 'prepared')).sort();

t.test('a pair is described by its JSON file, and prepared in a copy', async (t) => {
  const { voices, models } = laidOut(t, ['de_DE-two-low.onnx']);
  const folder = openSpeakingFolder(voices, models);
  const { description, speakers, model } = describeSherpaTts(folder);
  t.strictSame(description.capabilities.languages, ['de']);
  t.equal(description.capabilities.sampleRate, 16_000);
  t.strictSame([...speakers], [['anton', 0], ['berta', 1]]); // oxfmt-ignore
  t.equal(fs.existsSync(path.join(models, 'prepared')), false, 'nothing is made to describe it');

  await folder.prepare();
  const { model: copy = '', tokens = '', dataDir } = model.vits ?? {};
  exactly(t, Object.fromEntries(onnxMetadata(copy)), {
    model_type: 'vits',
    sample_rate: '16000',
    voice: 'de',
  });
  t.ok(
    fs.readFileSync(copy).subarray(0, NAKED.length).equals(NAKED),
    'the model, and behind it what it lacked',
  );
  t.equal(fs.readFileSync(tokens, 'utf8'), '_ 0\n  3\nɪ 74\n');
  t.equal(dataDir, path.join(voices, 'espeak-ng-data'), 'the data beside the voice');
  t.same(fs.readFileSync(path.join(voices, 'de_DE-two-low.onnx')), NAKED);
});

t.test(
  'a copy is made once, also by two at a time; of another file under the name there is another',
  async (t) => {
    const { voices, models } = laidOut(t, ['voice.onnx']);
    const prepare = () => openSpeakingFolder(voices, models).prepare();
    await Promise.all([prepare(), prepare()]);
    const [copy] = prepared(models);
    exactly(t, prepared(models), [/^voices-[0-9a-f]{16}$/]);
    await prepare();
    t.strictSame(prepared(models), [copy]);
    fs.writeFileSync(path.join(voices, 'voice.onnx'), Buffer.concat([NAKED, NAKED]));
    await prepare();
    t.equal(prepared(models).length, 2);
  },
);

t.test('if the folder of models is read-only, the copy is made in the data folder', async (t) => {
  const { voices, models } = laidOut(t, ['voice.onnx']);
  const data = path.join(path.dirname(models), 'data');
  fs.mkdirSync(data);
  t.equal(folderForCopies([models, data]), models);
  fs.rmSync(path.join(models, 'prepared'), { recursive: true });
  fs.writeFileSync(path.join(models, 'prepared'), 'in its place not even root can make a folder');
  await openSpeakingFolder(voices, folderForCopies([models, data])).prepare();
  exactly(t, prepared(data), [/^voices-[0-9a-f]{16}$/]);
});

t.test('each of several pairs in a folder can be named', async (t) => {
  const { voices, models } = laidOut(t, ['en_US-one.onnx', 'en_US-two.onnx'], { ...VOICE, num_speakers: 1 });
  const folder = openSpeakingFolder(path.join(voices, 'en_US-two.onnx'), models);
  t.equal(folder.name, 'en_US-two');
  t.strictSame([...describeSherpaTts(folder).speakers], [['en_US-two', 0]]);
  t.throws(
    () => openSpeakingFolder(path.join(voices, 'none.onnx'), models),
    /none\.onnx is no voice of Piper's/,
  );
});

t.test('a voice is named by its JSON file, and by no folder called data', async (t) => {
  const told = { dataset: 'joe_b', language: { name_english: 'English', country_english: 'United States' } };
  const { voices, models } = laidOut(t, ['en_US-joe.onnx'], { ...VOICE, num_speakers: 1, ...told });
  const titleOf = (place: string): readonly unknown[] => {
    const { name, voices: [voice] } = describeSherpaTts(openSpeakingFolder(place, models)).description; // oxfmt-ignore
    return [name, voice?.name, voice?.title];
  };
  t.strictSame(titleOf(voices), ['sherpa/voices', 'voices', 'Joe b (English, United States)']);
  const data = path.join(path.dirname(voices), 'data');
  fs.renameSync(voices, data);
  t.strictSame(titleOf(data), ['sherpa/en_US-joe', 'en_US-joe', 'Joe b (English, United States)']);
  for (const dataset of [undefined, '', 7, null]) {
    fs.writeFileSync(
      path.join(data, 'en_US-joe.onnx.json'),
      JSON.stringify({ ...VOICE, num_speakers: 1, dataset }),
    );
    t.strictSame(titleOf(data), ['sherpa/en_US-joe', 'en_US-joe', 'en_US-joe']);
  }
});

t.test('a voice with phonemes other than espeak’s is refused', async (t) => {
  const { voices, models } = laidOut(t, ['voice.onnx'], { ...VOICE, phoneme_type: 'text' });
  t.throws(() => openSpeakingFolder(voices, models), /phonemes of "text"; only espeak's/);
});

t.test('a model that says all itself is taken as it is', async (t) => {
  const { voices, models } = laidOut(t, ['voice.onnx']);
  const copied = openSpeakingFolder(voices, models);
  await copied.prepare();
  const whole = describeSherpaTts(copied).model.vits?.model ?? '';
  fs.copyFileSync(whole, path.join(voices, 'voice.onnx'));
  t.equal(openSpeakingFolder(voices, models).find(/\.onnx$/), path.join(voices, 'voice.onnx'));
});

const missing = notInstalled([ESPEAK_DATA_PACKAGE]).join();
const skip = missing === '' ? false : `${missing} is not installed`;

t.test('espeak’s data come from the package if the voice has none', { skip }, async (t) => {
  const { voices, models } = laidOut(t, ['voice.onnx']);
  fs.rmdirSync(path.join(voices, 'espeak-ng-data'));
  const folder = openSpeakingFolder(voices, models);
  await folder.prepare();
  const data = folder.find(/^espeak-ng-data$/) ?? '';
  t.ok(data.startsWith(path.join(models, 'prepared')));
  for (const file of ['phontab', 'phonindex', 'phondata', 'intonations', 'de_dict', 'lang/gmw/de'])
    t.ok(fs.statSync(path.join(data, file)).size > 0, file);
});
