/** eSpeak NG in its own child, as in a gateway. The packages are optional: without them only the refusal is tested. */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { Language } from '../../../contracts/speech/languages.js';
import { createAligner } from '../../../engines/alignment/aligner.js';
import {
  ESPEAK_PACKAGES,
  ESPEAK_RATE,
  espeakDescription,
} from '../../../engines/backends/espeak/description.js';
import { ttsInChild } from '../../../engines/child-engines.js';
import { speakAll, ttsConformance } from '../../fixtures/engine-conformance.js';
import { readConfig } from '../../../gateway/config.js';
import { engineRoles } from '../../../gateway/wiring/engines.js';
import { rejectsExactly, throwsExactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import { productChild } from '../../fixtures/processes/product-child.js';

const isInstalled = (name: string): boolean => {
  try {
    return import.meta.resolve(name) !== '';
  } catch {
    return false;
  }
};
const installed = ESPEAK_PACKAGES.every(isInstalled);
const only = installed ? {} : { skip: 'the optional packages are not installed' };

async function espeakChild() {
  const { pool } = await productChild(t, 'espeak', 'espeak');
  return ttsInChild(pool, espeakDescription);
}

t.test('without its packages a start is refused in one line that names them', async (t) => {
  const roles = () => engineRoles(readConfig({ TTS_ENGINES: 'flite,espeak' }));
  if (installed) t.same(roles(), new Set(['tts', 'espeak', 'stt']));
  else
    throwsExactly(t, roles, {
      name: 'Error',
      message: /"espeak" needs optional packages: npm install .*espeak-ng/,
    });
});

t.test('from its child', only, async (t) => {
  const espeak = await espeakChild();
  const say = (voice: string, language: Language, text: string) =>
    speakAll(espeak, { text, voice, language, speed: 1, timing: true });

  await t.test('espeak conforms', (t) =>
    ttsConformance(t, espeak, {
      sentence: 'The package was delivered this morning.',
      deterministic: true,
    }),
  );

  const SENTENCES: readonly (readonly [voice: string, language: Language, text: string, words: number])[] = [
    ['en-gb', 'en', 'At three in the afternoon.', 5],
    ['ja', 'ja', '今日は天気がいいです。3時に買いました！', 12],
    ['cmn', 'zh', '你好，世界。今天天气很好。', 10],
    ['ko', 'ko', '안녕하세요, 오늘 날씨가 좋습니다.', 4],
    ['es', 'es', 'El paquete llegó esta mañana.', 5],
    ['fr-fr', 'fr', "L'homme qu'il a vu est parti aujourd'hui.", 7],
    ['de', 'de', 'Das Paket wurde heute geliefert.', 5],
  ];

  await t.test('each language has its words, in order, within its audio', async (t) => {
    for (const [voice, language, text, count] of SENTENCES) {
      const { samples, words } = await say(voice, language, text);
      const seconds = samples.length / ESPEAK_RATE;
      t.ok(seconds > 1 && seconds < 6, `${voice} takes ${seconds} s`);
      t.equal(words.length, count, words.map((word) => word.text).join('|'));
      const spelled = (text: string): string => text.replace(/[\s\p{P}]/gu, '');
      t.equal(spelled(words.map((word) => word.text).join('')), spelled(text), 'no word is lost');
      let last = 0;
      for (const { text, start, end } of words) {
        t.ok(start >= last && end > start && end <= seconds, `${text} ${start} to ${end}`);
        last = end;
      }
    }
  });

  await t.test('each voice sounds different', async (t) => {
    const heard = new Map<string, string>();
    for (const { name, languages } of espeakDescription.voices) {
      const { samples } = await say(name, languages[0] as Language, 'La plaza grande, zum Beispiel.');
      const sound = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('base64');
      t.equal(heard.get(sound), undefined, name);
      heard.set(sound, name);
    }
  });

  await t.test('Japanese is read in kana: kanji take as long as their reading', async (t) => {
    const kanji = await say('ja', 'ja', '東京へ行きたい。');
    const kana = await say('ja', 'ja', 'トーキョーエ イキタイ。');
    const ratio = kanji.samples.length / kana.samples.length;
    t.ok(ratio > 0.8 && ratio < 1.25, `${ratio}`);
  });

  await t.test('audio comes in chunks of a tenth of a second', async (t) => {
    const request = {
      text: 'The quick brown fox jumps over the lazy dog.',
      voice: 'en-us',
      language: 'en',
      speed: 1,
    } as const;
    let chunks = 0;
    for await (const event of espeak.synthesize(request, new AbortController().signal)) {
      if (event.kind !== 'audio') continue;
      chunks += 1;
      t.ok(event.samples.length <= ESPEAK_RATE / 10 + 2, String(event.samples.length));
    }
    t.ok(chunks > 15);
  });

  await t.test('an unknown voice is refused', async (t) => {
    await rejectsExactly(t, say('en-us+f9', 'en', 'Hello'), { code: 'voice_not_found' });
    await rejectsExactly(t, say('../en', 'en', 'Hello'), { code: 'voice_not_found' });
  });

  await t.test("espeak's word times agree with alignment, whose model knows another voice", async (t) => {
    const fixture = new URL('test/fixtures/engines/sentences.json', CHECKOUT);
    const sentences = (JSON.parse(readFileSync(fixture, 'utf8')) as string[]).slice(0, shortOrLong(4, 10));
    const aligner = createAligner();
    t.teardown(() => aligner.stop());
    let close = 0;
    let all = 0;
    for (const sentence of sentences) {
      const { samples, words } = await say('en-us', 'en', sentence);
      const found = await aligner.align(resampled(samples), sentence, new AbortController().signal);
      close += words.filter(({ start }, index) => Math.abs(found[index]!.start - start) <= 0.15).length;
      all += words.length;
    }
    t.ok(close >= 0.9 * all, `${close} of ${all}`);
  });
});

/** Resamples to 16 kHz by linear interpolation. */
function resampled(samples: Int16Array): Int16Array {
  const step = ESPEAK_RATE / RECOGNITION_RATE;
  return Int16Array.from({ length: Math.floor(samples.length / step) }, (_, index) => {
    const [at, part] = [Math.floor(index * step), (index * step) % 1];
    return Math.round(samples[at]! * (1 - part) + (samples[at + 1] ?? 0) * part);
  });
}
