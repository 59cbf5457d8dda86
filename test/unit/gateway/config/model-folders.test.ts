/** Models that a configuration selects: listed ones, added ones, and faults that prevent a start. */
import fs from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import t from '../../../fixtures/tap.js';
import { onnxProperties } from '../../../../engines/backends/sherpa/onnx-metadata.js';
import { ConfigError, readConfig } from '../../../../gateway/config.js';
import { engineRoles, reachEngines } from '../../../../gateway/wiring/engines.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

const speaking = (language: string): Buffer =>
  Buffer.concat([Buffer.from([8, 7]), onnxProperties(new Map([['model_type', 'vits'], ['voice', language]]))]); // oxfmt-ignore

const voice = (language: string) => ({ 'model.onnx': speaking(language), 'tokens.txt': '_ 0\n' });
const pair = { audio: { sample_rate: 16_000 }, espeak: { voice: 'fr' }, phoneme_id_map: { _: [0] } };

type Files = { [name: string]: Files | Buffer | string };

function laidOut(files: Files, into: string): void {
  fs.mkdirSync(into, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const place = path.join(into, name);
    if (typeof content === 'string' || Buffer.isBuffer(content)) fs.writeFileSync(place, content);
    else laidOut(content, place);
  }
}

/** A MODELS_DIR with these models added, and its configuration. */
function configured(t: Test, added: Files, others: Files = {}) {
  const folder = t.testdir();
  laidOut({ catalogue: added, ...others }, folder);
  return {
    folder,
    read: (env: Readonly<Record<string, string>> = {}) => readConfig({ MODELS_DIR: folder, ...env }),
  };
}

const told = (task: string, added: string, languages: string[] | 'any' = 'any') => ({
  '.model.json': JSON.stringify({ task, added, languages }),
});

const names = (places: readonly string[]): string[] => places.map((place) => path.basename(place));

t.test('models that were added are used without a setting, the first that was added first', async (t) => {
  const { folder, read } = configured(t, {
    anna: { ...voice('de'), ...told('tts', '2026-03-02') },
    zoe: { ...voice('en'), ...told('tts', '2026-03-01') },
    ear: told('stt', '2026-03-03'),
    '.partial-killed': told('tts', '2026-01-01'),
    stranger: { 'readme.txt': '' },
  });
  const { models, ttsEngines, sttEngines } = read();
  t.strictSame([names(models.tts), names(models.stt)], [['zoe', 'anna'], ['ear']]); // oxfmt-ignore
  t.strictSame([ttsEngines[0], sttEngines], ['sherpa', ['sherpa', 'moonshine']]);
  t.strictSame(read({ TTS_ENGINES: 'flite' }).ttsEngines, ['flite'], 'who lists engines, lists all');
  t.strictSame(names(read({ SHERPA_TTS: `anna, ${folder}` }).models.tts), ['anna', path.basename(folder)]);
  t.strictSame(configured(t, {}).read().sttEngines, ['moonshine'], 'nothing was added');
});

t.test('each model is a separate engine; a folder of pairs holds as many', async (t) => {
  const { folder, read } = configured(
    t,
    { anna: { ...voice('de'), ...told('tts', '2026-03-02', ['de', 'nl']) } },
    { pairs: { 'a.onnx': Buffer.from([8, 7]), 'a.onnx.json': JSON.stringify(pair), 'b.onnx': Buffer.from([8, 7]), 'b.onnx.json': JSON.stringify(pair) } }, // oxfmt-ignore
  );
  const config = read({
    SHERPA_TTS: `${folder}/pairs,anna`,
    TTS_ENGINES: 'sherpa,flite',
    STT_ENGINES: 'tone',
  });
  const { speakers } = reachEngines(config, () => ({ async *runJob() {} }));
  t.strictSame(
    speakers.map(({ name, capabilities }) => [name, ...capabilities.languages]),
    [['sherpa/a', 'fr'], ['sherpa/b', 'fr'], ['sherpa/anna', 'de', 'nl'], ['flite', 'en']], // oxfmt-ignore
  );
});

t.test('a model that is missing, named twice, or whose languages are unclear stops the start', async (t) => {
  const { folder, read } = configured(t, { anna: voice('de'), mute: voice('xx') }, { anna: voice('en') });
  const lines: [env: Readonly<Record<string, string>>, line: string | RegExp][] = [
    [{ SHERPA_TTS: 'kokoro-en' }, 'SHERPA_TTS: kokoro-en is not there; npm run models -- add kokoro-en'],
    [{ SHERPA_TTS: `anna,${folder}/anna` }, 'SHERPA_TTS has two models named sherpa/anna'],
    [
      { SHERPA_TTS: 'anna,mute', SHERPA_TTS_LANGUAGES: 'de' },
      'SHERPA_TTS_LANGUAGES is for one model, and there are 2',
    ],
    [{ SHERPA_TTS: 'mute' }, /^SHERPA_TTS: Say in SHERPA_TTS_LANGUAGES/],
    [{ SHERPA_TTS: `${folder}/none.onnx` }, /^SHERPA_TTS: .*none\.onnx is no voice of Piper's/],
    [{ TTS_ENGINES: 'sherpa' }, 'The engine "sherpa" needs SHERPA_TTS, or a model of "npm run models"'],
    [
      { STT_ENGINES: 'sherpa', SHERPA_STT: 'anna' },
      /^SHERPA_STT: The model folder .* holds no recognition model/,
    ],
  ];
  for (const [env, message] of lines)
    throwsExactly(
      t,
      () => engineRoles(read(env)),
      { constructor: ConfigError, message },
      JSON.stringify(env),
    );
});
