/** Recognition with language hints, by models that the real runtime runs and whose transcript names the given language. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from '../../../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../../../contracts/audio.js';
import { LoadedModels } from '../../../../../engines/backends/sherpa/loaded-models.js';
import { createSherpaStt } from '../../../../../engines/backends/sherpa/transcription.js';
import { writeSenseVoice, writeWhisper, WRITTEN } from '../../../../fixtures/engines/small-recognisers.js';

const { signal } = new AbortController();
const voice = Int16Array.from({ length: RECOGNITION_RATE * 2 }, (_, at) =>
  Math.round(9000 * Math.sin(at / 12) * Math.sin(at / 2000)),
);

function engineOf(name: string, write: (folder: string) => void, memory = new LoadedModels()) {
  const parent = mkdtempSync(join(tmpdir(), 'hints-'));
  t.teardown(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, name);
  mkdirSync(folder);
  write(folder);
  const engine = createSherpaStt(folder, { memory });
  const hear = (language?: string) =>
    engine.transcribe(voice, language === undefined ? {} : { language }, signal);
  return { engine, hear };
}

t.test(
  'Whisper gets the language of the hint, with one model in memory, and detects it without a hint',
  async (t) => {
    const { engine, hear } = engineOf('whisper', writeWhisper);
    t.strictSame(engine.capabilities.languages, ['de', 'fr', 'ja'], 'those that the model names');
    for (const language of ['de', 'fr', 'de', 'ja'] as const)
      t.strictSame(await hear(language), { text: WRITTEN[language], language });
    t.strictSame(await hear(), { text: WRITTEN.ja, language: 'ja' }, 'found, and told');
    t.strictSame(await hear('xx'), { text: WRITTEN.ja, language: 'ja' }, 'a code that would end the process');
    const together = await Promise.all((['fr', 'de', undefined, 'fr'] as const).map(hear));
    t.strictSame(together.map(({ language }) => language), ['fr', 'de', 'ja', 'fr'], 'asked at once'); // oxfmt-ignore
  },
);

t.test('SenseVoice is opened for the language of the hint, within the memory', async (t) => {
  let left = 0;
  // Memory holds only one model.
  const { engine, hear } = engineOf('sense', writeSenseVoice, new LoadedModels(1, () => (left += 1)));
  t.strictSame(engine.capabilities.languages, ['zh', 'en', 'ja', 'ko', 'yue']);
  for (const language of ['zh', 'ko', 'ko', 'yue']) t.equal((await hear(language)).text, `in-${language}`);
  t.strictSame(await hear(), { text: 'in-auto', language: 'ja' }, 'found, and told');
  t.equal(left, 3, 'the one before leaves each time');
});
